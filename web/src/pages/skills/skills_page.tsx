import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Plus, ScrollText, Search } from "lucide-react";
import { type Skill, skillsQuery } from "../../api/skills";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { titleOf } from "../../words/format";
import { skillWords } from "../../words/skills";
import { SkillForm } from "./skill_form";
import { SkillView } from "./skill_view";

/** In the place of the name of a tool, which has a "__": the form of a new skill. */
const NEW = "new";

/** The skills that the caller sees; one of them beside the list, as models read it. */
export function SkillsPage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const { q = "", file = "" } = useSearch({ strict: false }) as { q?: string; file?: string };
  const skills = useQuery(skillsQuery);
  usePageTitle(skillWords.skills);
  const wanted = q.trim().toLowerCase();
  const found = (skills.data ?? []).filter((item) =>
    `${item.name} ${item.description} ${item.source}`.toLowerCase().includes(wanted),
  );
  return (
    <div className="split skills" data-open={name !== "" || undefined}>
      <section className="list" aria-label={skillWords.skills}>
        <div className="top">
          <div className="line">
            <h1>{skillWords.skills}</h1>
            <span className="faint num">{skills.data?.length}</span>
          </div>
          {(skills.data?.length ?? 0) > 0 && <Find name={name} text={q} />}
          <Link className="btn" to="/skills/$name" params={{ name: NEW }}>
            <Plus className="i s" aria-hidden="true" /> {skillWords.addSkill}
          </Link>
        </div>
        {skills.isPending && <Skeleton rows={4} />}
        {skills.error && (
          <Failure
            what={skillWords.skillsFailed}
            error={skills.error}
            retry={() => void skills.refetch()}
          />
        )}
        {skills.data?.length === 0 && (
          <div className="quiet-row only-narrow">
            <NoSkills />
          </div>
        )}
        {wanted && found.length === 0 && <p className="dim nothing">{skillWords.noneFits}</p>}
        <Groups skills={found} chosen={name} text={q} />
      </section>
      {name === NEW ? (
        <NewSkill />
      ) : name ? (
        <SkillView key={name} name={name} file={file} />
      ) : (
        <section className="detail" aria-label={skillWords.skill}>
          <div className="in-col">
            {skills.data?.length === 0 && <NoSkills />}
            {found.length > 0 && <p className="faint nothing">{skillWords.chooseSkill}</p>}
          </div>
        </section>
      )}
    </div>
  );
}

function NoSkills() {
  return (
    <Empty title={skillWords.noSkills} pegs>
      {skillWords.noSkillsWhy}
    </Empty>
  );
}

function NewSkill() {
  const navigate = useNavigate();
  return (
    <section className="detail" aria-label={skillWords.addSkill}>
      <div className="in-col">
        <SkillForm
          onDone={(name) =>
            void navigate({ to: "/skills/$name", params: { name: `${name}__read` } })
          }
          onCancel={() => void navigate({ to: "/skills" })}
        />
      </div>
    </section>
  );
}

function Find({ name, text }: { name: string; text: string }) {
  const navigate = useNavigate();
  return (
    <div className="find">
      <Search className="i" aria-hidden="true" />
      <input
        className="in"
        type="search"
        aria-label={skillWords.findSkill}
        placeholder={skillWords.findSkill}
        value={text}
        onChange={(event) => {
          const search = { q: event.target.value || undefined };
          void (name
            ? navigate({ to: "/skills/$name", params: { name }, search, replace: true })
            : navigate({ to: "/skills", search, replace: true }));
        }}
      />
    </div>
  );
}

function Groups({
  skills,
  chosen,
  text,
}: {
  skills: readonly Skill[];
  chosen: string;
  text: string;
}) {
  const groupOf = (item: Skill) => (item.resource ? skillWords.ofPeople : item.source);
  const groups = [...new Set(skills.map(groupOf))];
  return (
    <div className="items">
      {groups.map((group) => (
        <section key={group} aria-label={group}>
          <h2>{group}</h2>
          {skills
            .filter((item) => groupOf(item) === group)
            .map((item) => (
              <Link
                key={item.tool}
                className={`item with-tile ${item.unavailable ? "dead" : ""}`}
                to="/skills/$name"
                params={{ name: item.tool }}
                search={{ q: text || undefined }}
                activeOptions={{ exact: true }}
                aria-current={item.tool === chosen ? "true" : undefined}
              >
                <span className="tile">
                  <ScrollText className="i" aria-hidden="true" />
                </span>
                <b className="cut">{titleOf(item.name)}</b>
                <span className="faint cut">{item.description}</span>
                <span className="side-tag">
                  {item.unavailable && <span className="tag bad">{skillWords.cannotTag}</span>}
                </span>
              </Link>
            ))}
        </section>
      ))}
    </div>
  );
}
