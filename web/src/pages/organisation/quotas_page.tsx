import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { isOperator, mayAdminister, membersQuery, organisationsQuery } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { type Quota, quotasQuery, removeQuota } from "../../api/quotas";
import { Confirm } from "../../parts/confirm";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { namePerson, people } from "../../words/people";
import { nameQuota, quotaWords } from "../../words/quotas";
import { OrganisationTabs } from "./organisation_tabs";
import { QuotaDialog } from "./quota_dialog";
import { QuotaSum } from "./quota_sum";
import { QuotaTable } from "./quota_table";

/** How much an organisation and its members may use, what they have used, and forms to limit it. */
export function QuotasPage() {
  const { handle = "" } = useParams({ strict: false }) as { handle?: string };
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const { data: organisations } = useQuery(organisationsQuery);
  const { data: members = [] } = useQuery(membersQuery(handle));
  const quotas = useQuery(quotasQuery);
  const own = organisations?.find((item) => item.handle === handle);
  const title = own?.title ?? handle;
  usePageTitle(quotaWords.quotas);
  const [edited, setEdited] = useState<Quota | "new" | null>(null);
  const [removed, setRemoved] = useState<Quota | null>(null);
  const read = () => client.invalidateQueries({ queryKey: ["quotas"] });
  const remove = useMutation({
    mutationFn: (quota: Quota) => removeQuota(quota),
    onSuccess: () => setRemoved(null),
    onSettled: read,
  });
  const mayLimit = own !== undefined && mayAdminister(session, own);
  const names = new Map(
    members.map((member) => [member.handle, namePerson(member.name, member.handle)]),
  );
  const found = quotas.data ?? [];
  const ofAll = found.filter((item) => item.organisation === handle && item.person === "");
  const ofPeople = found.filter((item) => item.organisation === handle && item.person !== "");
  const isShown = (person: string) => names.has(person) || person === session?.handle;
  const everywhere = found.filter((item) => item.organisation === "" && isShown(item.person));
  const count = ofAll.length + ofPeople.length + everywhere.length;
  const right = isOperator(session) ? "operator" : "administrator";
  const actions = {
    mayChange: (quota: Quota) => mayLimit && quota.set_by === right,
    mayRemove: (quota: Quota) => mayLimit && [right, "administrator"].includes(quota.set_by),
    nameOf: (person: string) => names.get(person) ?? (person || title),
    onChange: setEdited,
    onRemove: setRemoved,
  };
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{title}</h1>
            <p>{quotaWords.what}</p>
          </div>
          {mayLimit && (
            <div className="acts">
              <button type="button" className="btn primary" onClick={() => setEdited("new")}>
                <Plus className="i s" aria-hidden="true" /> {quotaWords.setOne}
              </button>
            </div>
          )}
        </div>
        <OrganisationTabs handle={handle} title={title} current="quotas" />
        {quotas.isPending && <Skeleton rows={3} />}
        {quotas.error && (
          <Failure
            what={quotaWords.failed}
            error={quotas.error}
            retry={() => void quotas.refetch()}
          />
        )}
        {quotas.data && !mayLimit && count === 0 && (
          <Empty title={quotaWords.noneForYou} pegs>
            {quotaWords.noneForYouWhy}
          </Empty>
        )}
        {quotas.data && (mayLimit || count > 0) && (
          <>
            <QuotaSum title={title} quotas={ofAll} {...actions} />
            <QuotaTable
              title={quotaWords.ofPeople}
              what={ofPeople.length > 0 ? quotaWords.ofPeopleWhat(title) : undefined}
              none={quotaWords.ofPeopleNone}
              quotas={ofPeople}
              {...actions}
            />
            {everywhere.length > 0 && (
              <QuotaTable
                title={quotaWords.everywhere}
                what={quotaWords.everywhereWhat}
                quotas={everywhere}
                {...actions}
              />
            )}
          </>
        )}
      </div>
      {edited && (
        <QuotaDialog
          organisation={handle}
          title={title}
          members={members.filter((member) => member.state === "approved")}
          quota={edited === "new" ? undefined : edited}
          isOperator={isOperator(session)}
          onDone={async () => {
            setEdited(null);
            await read();
          }}
          onClose={() => setEdited(null)}
        />
      )}
      {removed && (
        <Confirm
          title={quotaWords.removeQuestion(
            `${actions.nameOf(removed.person)}, ${nameQuota(removed).toLowerCase()}`,
          )}
          what={quotaWords.removeWhat}
          action={people.remove}
          error={remove.error}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate(removed)}
          onClose={() => {
            setRemoved(null);
            remove.reset();
          }}
        />
      )}
    </div>
  );
}
