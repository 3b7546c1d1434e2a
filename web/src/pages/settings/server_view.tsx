import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/queries";
import { type ServerSettings, settingsQuery } from "../../api/settings";
import { MarkIcon, StateMark } from "../../parts/marks";
import { Failure, Skeleton } from "../../parts/states";
import { settingWords } from "../../words/settings";
import { ValuesCard } from "./values_card";

/** What the server runs with. */
export function ServerView() {
  const settings = useQuery(settingsQuery);
  if (settings.error)
    return (
      <Failure
        what={settingWords.settingsFailed}
        error={settings.error}
        retry={() => void settings.refetch()}
      />
    );
  if (!settings.data) return <Skeleton rows={8} />;
  const { data } = settings;
  return (
    <>
      {data.problem && (
        <div className="banner bad" role="alert">
          <MarkIcon mark="bad" /> {data.problem}
        </div>
      )}
      <div className="beside">
        <ValuesCard settings={data.settings} />
        <aside className="aside">
          <section className="card padded" aria-label={settingWords.server}>
            <h2>{settingWords.server}</h2>
            <dl className="kv">
              <dt>{settingWords.version}</dt>
              <dd>{data.version}</dd>
              <dt>{settingWords.boardFile}</dt>
              <dd>{data.board ? <code>{data.board}</code> : settingWords.noBoardFile}</dd>
              <dt>{settingWords.storedIn}</dt>
              <dd>{data.data}</dd>
            </dl>
          </section>
          <DoorsCard doors={data.doors} />
          <ModelsInUse />
          {data.sections.length > 0 && <SectionsCard sections={data.sections} />}
        </aside>
      </div>
    </>
  );
}

function DoorsCard({ doors }: { doors: ServerSettings["doors"] }) {
  return (
    <section className="card padded" aria-label={settingWords.doors}>
      <h2>{settingWords.doors}</h2>
      <p className="dim">{settingWords.doorsWhat}</p>
      <ul className="plain-rows">
        {doors.map((door) => (
          <li key={door.name}>
            <span>
              <b>{settingWords.doorNames[door.name]}</b>
              <small className="mono faint">{door.path}</small>
            </span>
            {door.open ? (
              <StateMark state="done" word={settingWords.guards[door.guard]} />
            ) : (
              <span className="closed">
                <StateMark
                  state="skipped"
                  word={door.setting ? settingWords.closed : settingWords.notBuilt}
                />
                {door.setting && (
                  <small className="faint">
                    {settingWords.opensWith} <code>{door.setting}</code>
                  </small>
                )}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function ModelsInUse() {
  const { data: models } = useQuery(modelsQuery);
  if (!models) return null;
  return (
    <section className="card padded" aria-label={settingWords.models}>
      <h2>{settingWords.models}</h2>
      {models.length === 0 && <p className="dim">{settingWords.noModels}</p>}
      <ul className="plain-rows">
        {models.map((model) => (
          <li key={model.name}>
            <span>
              <b>{model.title || model.name}</b>
              <small className="faint">{model.provider}</small>
            </span>
            <span className="dim">{settingWords.modelRoles[model.role] ?? ""}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SectionsCard({ sections }: { sections: ServerSettings["sections"] }) {
  return (
    <section className="card padded" aria-label={settingWords.fromBoard}>
      <h2>{settingWords.fromBoard}</h2>
      <p className="dim">{settingWords.fromBoardWhat}</p>
      <ul className="plain-rows">
        {sections.map((section) => (
          <li key={section.name}>
            <span>
              <code>{section.name}</code>
              <small className="mono faint">{section.place}</small>
            </span>
            <span className="dim num">
              {section.entries === null ? "" : settingWords.entries(section.entries)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
