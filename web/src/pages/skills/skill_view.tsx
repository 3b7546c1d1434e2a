import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, CircleX, FileText } from "lucide-react";
import { useState } from "react";
import { toolsQuery } from "../../api/queries";
import { type SkillDetail, skillFileQuery, skillQuery } from "../../api/skills";
import { Markdown } from "../../parts/markdown";
import { MarkIcon } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Skeleton } from "../../parts/states";
import { titleOf } from "../../words/format";
import { skillWords } from "../../words/skills";
import { toolWords } from "../../words/tools";
import { OwnedSkill } from "./owned_skill";

/** One skill: its text as text, the tools that it allows, and its other files. */
export function SkillView({ name, file }: { name: string; file: string }) {
  const skill = useQuery(skillQuery(name));
  const title = skill.data ? titleOf(skill.data.name) : "";
  usePageTitle(title || skillWords.skills);
  return (
    <section className="detail" aria-label={title || skillWords.skill}>
      <div className="in-col">
        <Link className="back" to="/skills">
          <ChevronLeft className="i" aria-hidden="true" /> {skillWords.skills}
        </Link>
        {skill.isPending && <Skeleton rows={5} />}
        {skill.error && (
          <Failure
            what={skillWords.skillFailed}
            missing={skillWords.noSkill}
            error={skill.error}
            retry={() => void skill.refetch()}
          />
        )}
        {skill.data && <View skill={skill.data} title={title} file={file} />}
      </div>
    </section>
  );
}

function View({ skill, title, file }: { skill: SkillDetail; title: string; file: string }) {
  const [isEditing, setEditing] = useState(false);
  const owned = skill.resource && (
    <OwnedSkill id={skill.resource} isEditing={isEditing} setEditing={setEditing} />
  );
  if (isEditing) return owned;
  return (
    <>
      <div className="title">
        <h1>{title}</h1>
        <div className="wire">
          <code>{skill.tool}</code>
        </div>
        {skill.description && <p className="desc">{skill.description}</p>}
        <div className="tags">
          {skill.unavailable ? (
            <span className="tag bad">
              <MarkIcon mark="bad" small /> {skillWords.cannotBeUsed}
            </span>
          ) : (
            <span className="tag ok">
              <MarkIcon mark="ok" small /> {skillWords.on}
            </span>
          )}
          {skill.allowed_tools && <span className="tag">{skillWords.restricts}</span>}
        </div>
      </div>
      {skill.unavailable ? (
        <section className="card" aria-label={skillWords.whatIsWrong}>
          <header>
            <h2>{skillWords.whatIsWrong}</h2>
          </header>
          <p className="quiet-row">
            <CircleX className="i s bad" aria-hidden="true" /> {skill.unavailable}
          </p>
        </section>
      ) : (
        <div className="beside slim">
          {file ? <SkillFile skill={skill} path={file} /> : <Text skill={skill} />}
          <aside className="aside">
            {owned}
            {skill.allowed_tools && <Allowed patterns={skill.allowed_tools} />}
            <Reads skill={skill} />
            {skill.files.length > 0 && <Files skill={skill} chosen={file} />}
          </aside>
        </div>
      )}
    </>
  );
}

function Text({ skill }: { skill: SkillDetail }) {
  return (
    <section className="card" aria-label={skillWords.whatItSays}>
      <header>
        <h2>{skillWords.whatItSays}</h2>
      </header>
      <div className="skill-text">
        {skill.text ? <Markdown text={skill.text} /> : <p className="dim">{skillWords.noText}</p>}
      </div>
    </section>
  );
}

function SkillFile({ skill, path }: { skill: SkillDetail; path: string }) {
  const file = useQuery(skillFileQuery(skill.tool, path));
  return (
    <section className="card" aria-label={path}>
      <header>
        <h2 className="mono cut">{path}</h2>
        <Link className="more" to="/skills/$name" params={{ name: skill.tool }}>
          {skillWords.backToText}
        </Link>
      </header>
      <div className="skill-text">
        {file.isPending && <Skeleton rows={3} />}
        {file.error && <Failure what={skillWords.fileFailed} error={file.error} />}
        {file.data !== undefined &&
          (path.endsWith(".md") ? (
            <Markdown text={file.data} />
          ) : (
            <pre className="json" tabIndex={0}>
              {file.data}
            </pre>
          ))}
      </div>
    </section>
  );
}

/** The tools that a skill allows, with what each may change, as far as the caller sees them. */
function Allowed({ patterns }: { patterns: readonly string[] }) {
  const { data: tools } = useQuery(toolsQuery);
  const effects = new Map(tools?.map((tool) => [tool.name, tool.effect]));
  const isGlob = (pattern: string) => /[*?[]/.test(pattern);
  return (
    <section className="card" aria-label={skillWords.whileInUse}>
      <header>
        <h2>{skillWords.whileInUse}</h2>
      </header>
      <div className="body">
        <p>{patterns.length > 0 ? skillWords.onlyThese : skillWords.noTools}</p>
        <ul className="allowed">
          {patterns.map((pattern) => {
            const effect = effects.get(pattern);
            return (
              <li key={pattern}>
                {isGlob(pattern) ? (
                  <span className="tag">{skillWords.patternOf}</span>
                ) : (
                  effect && (
                    <span className="tag">
                      {effect === "read" ? toolWords.reads : toolWords.writes}
                    </span>
                  )
                )}
                {effect ? (
                  <Link className="link" to="/tools/$name" params={{ name: pattern }}>
                    <code>{pattern}</code>
                  </Link>
                ) : (
                  <code>{pattern}</code>
                )}
                {tools && !effect && !isGlob(pattern) && (
                  <small className="faint">{skillWords.notSeen}</small>
                )}
              </li>
            );
          })}
        </ul>
        <p className="hint">{skillWords.givesNoRight}</p>
      </div>
    </section>
  );
}

function Reads({ skill }: { skill: SkillDetail }) {
  return (
    <section className="card" aria-label={skillWords.whatModelsRead}>
      <header>
        <h2>{skillWords.whatModelsRead}</h2>
      </header>
      <dl className="kv body">
        <dt>{skillWords.always}</dt>
        <dd>{skillWords.alwaysWhat}</dd>
        <dt>{skillWords.whenNeeded}</dt>
        <dd>{skillWords.thisText(skill.characters)}</dd>
        {skill.files.length > 0 && (
          <>
            <dt>{skillWords.onRequest}</dt>
            <dd>{skillWords.files(skill.files.length)}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Files({ skill, chosen }: { skill: SkillDetail; chosen: string }) {
  return (
    <section className="card" aria-label={skillWords.filesOf}>
      <header>
        <h2>{skillWords.filesOf}</h2>
      </header>
      <ul className="rows">
        {skill.files.map((path) => (
          <li className="go" key={path}>
            <Link
              to="/skills/$name"
              params={{ name: skill.tool }}
              search={{ file: path }}
              activeOptions={{ exact: true }}
              aria-current={path === chosen ? "true" : undefined}
            >
              <FileText className="i s faint" aria-hidden="true" />
              <code className="cut">{path}</code>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
