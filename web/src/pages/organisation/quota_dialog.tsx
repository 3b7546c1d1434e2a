import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Member } from "../../api/people";
import { type Quota, type QuotaSubject, setQuota } from "../../api/quotas";
import { Dialog } from "../../parts/dialog";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { messages } from "../../words/messages";
import { namePerson } from "../../words/people";
import { nameQuota, quotaWords } from "../../words/quotas";
import { QuotaSubjectFields } from "./quota_subject";

interface QuotaDialogProps {
  organisation: string;
  title: string;
  members: readonly Member[];
  /** The quota to change; undefined for a new one. */
  quota: Quota | undefined;
  isOperator: boolean;
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

/** A form for a quota: whose, of what, in which time, and how much. */
export function QuotaDialog(props: QuotaDialogProps) {
  const { organisation, title, members, quota, isOperator } = props;
  const [subject, setSubject] = useState<QuotaSubject>(
    quota ?? { measure: "calls", window: "day", person: "", organisation },
  );
  const [amount, setAmount] = useState(quota ? String(quota.limit ?? "") : "");
  const [isFree, setFree] = useState(quota?.limit === null);
  const [isWrong, setWrong] = useState(false);
  const save = useMutation({
    mutationFn: (limit: number | null) => {
      const { measure, window, person } = subject;
      return setQuota({ measure, window, person, organisation: subject.organisation }, limit);
    },
    onSuccess: props.onDone,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const limit = isFree ? null : readAmount(amount, subject.measure);
    setWrong(limit === undefined);
    if (limit !== undefined) save.mutate(limit);
  };
  const person = members.find((member) => member.handle === subject.person);
  const of = `${namePerson(person?.name, subject.person) || title}, ${nameQuota(subject).toLowerCase()}`;
  const label = quota ? quotaWords.changeTitle(of) : quotaWords.setOne;
  return (
    <Dialog label={label} onClose={props.onClose}>
      <form className="stack" onSubmit={submit}>
        <h2>{label}</h2>
        {!quota && (
          <QuotaSubjectFields
            subject={subject}
            organisation={organisation}
            members={members}
            isOperator={isOperator}
            onChange={setSubject}
          />
        )}
        {!isFree && (
          <div>
            <Field
              id="quota-limit"
              label={quotaWords.limit[subject.measure]}
              value={amount}
              onChange={setAmount}
              hint={quotaWords.limitHint}
            />
            {isWrong && (
              <p className="bad hint" role="alert">
                {quotaWords.notANumber[subject.measure]}
              </p>
            )}
          </div>
        )}
        {isOperator && (
          <div className="pickone">
            <label>
              <input
                type="checkbox"
                checked={isFree}
                onChange={(event) => setFree(event.target.checked)}
              />
              <b>{quotaWords.noLimit}</b>
              <small>{quotaWords.noLimitWhat}</small>
            </label>
          </div>
        )}
        <Problem error={save.error} />
        <div className="acts">
          <button type="submit" className="btn primary" disabled={save.isPending}>
            {quotaWords.save}
          </button>
          <button type="button" className="btn quiet" onClick={props.onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The amount that was written; undefined for something else. */
function readAmount(text: string, measure: Quota["measure"]): number | undefined {
  const pattern = measure === "calls" ? /^\d{1,12}$/ : /^\d{1,12}(\.\d{1,4})?$/;
  const plain = text.trim().replaceAll(",", "");
  return pattern.test(plain) ? Number(plain) : undefined;
}
