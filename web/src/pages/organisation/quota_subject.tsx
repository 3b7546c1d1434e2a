import type { Member } from "../../api/people";
import type { QuotaSubject } from "../../api/quotas";
import { quotaWords } from "../../words/quotas";
import { namePerson } from "../../words/people";

interface QuotaSubjectFieldsProps {
  subject: QuotaSubject;
  organisation: string;
  members: readonly Member[];
  isOperator: boolean;
  onChange: (subject: QuotaSubject) => void;
}

/** Whose quota it is, what it limits and in which time. */
export function QuotaSubjectFields(props: QuotaSubjectFieldsProps) {
  const { subject, organisation, members, isOperator, onChange } = props;
  const change = (part: Partial<QuotaSubject>) => onChange({ ...subject, ...part });
  return (
    <>
      <div className="field">
        <label htmlFor="quota-who">{quotaWords.who}</label>
        <select
          id="quota-who"
          className="in"
          value={subject.person}
          onChange={(event) => change({ person: event.target.value, organisation })}
        >
          <option value="">{quotaWords.whole}</option>
          {members.map((member) => (
            <option key={member.handle} value={member.handle}>
              {namePerson(member.name, member.handle)}
            </option>
          ))}
        </select>
      </div>
      {isOperator && subject.person !== "" && (
        <div className="pickone">
          <label>
            <input
              type="checkbox"
              checked={subject.organisation === ""}
              onChange={(event) =>
                change({ organisation: event.target.checked ? "" : organisation })
              }
            />
            <b>{quotaWords.anywhere}</b>
            <small>{quotaWords.anywhereWhat}</small>
          </label>
        </div>
      )}
      <fieldset className="pickone two">
        <legend>{quotaWords.limits}</legend>
        {(["calls", "cost"] as const).map((measure) => (
          <label key={measure}>
            <input
              type="radio"
              name="quota-measure"
              checked={subject.measure === measure}
              onChange={() => change({ measure })}
            />
            <b>{quotaWords.measures[measure][0]}</b>
            <small>{quotaWords.measures[measure][1]}</small>
          </label>
        ))}
      </fieldset>
      <fieldset className="pickone two">
        <legend>{quotaWords.per}</legend>
        {(["day", "month"] as const).map((window) => (
          <label key={window}>
            <input
              type="radio"
              name="quota-window"
              checked={subject.window === window}
              onChange={() => change({ window })}
            />
            <b>{quotaWords.windows[window]}</b>
          </label>
        ))}
      </fieldset>
      <p className="hint">{quotaWords.windowHint}</p>
    </>
  );
}
