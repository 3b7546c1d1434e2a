import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { peopleQuery } from "../../api/explain";
import { type Key, membersQuery, organisationsQuery, serviceKeysQuery } from "../../api/people";
import { Confirm } from "../../parts/confirm";
import { KeyTable } from "../../parts/key_table";
import { NewKey } from "../../parts/new_key";
import { usePageTitle } from "../../parts/page_title";
import { ShownOnce } from "../../parts/shown_once";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { RowButton } from "../../parts/table";
import { messages } from "../../words/messages";
import { nameRoles, people } from "../../words/people";
import { NewService } from "./new_service";
import { OrganisationTabs } from "./organisation_tabs";

/** The service accounts of an organisation, each with its keys; for administrators. */
export function ServiceKeysPage() {
  const { handle = "" } = useParams({ strict: false }) as { handle?: string };
  const client = useQueryClient();
  const { data: organisations } = useQuery(organisationsQuery);
  const members = useQuery(membersQuery(handle));
  const { data: accounts = [] } = useQuery(peopleQuery);
  const title = organisations?.find((item) => item.handle === handle)?.title ?? handle;
  usePageTitle(people.serviceKeys);
  const machines = new Set(accounts.filter((item) => item.service).map((item) => item.handle));
  const services = members.data?.filter((member) => machines.has(member.handle)) ?? [];
  const keys = useQueries({
    queries: services.map((service) => serviceKeysQuery(handle, service.handle)),
  });
  const [isMaking, setMaking] = useState(false);
  const [keyFor, setKeyFor] = useState("");
  const [made, setMade] = useState<Schema<"NewKeyAnswer"> | null>(null);
  const [asked, setAsked] = useState<{ service: string; key: Key } | null>(null);
  const path = (service: string) => `/organisations/${handle}/services/${service}/keys`;
  const read = () => client.invalidateQueries({ queryKey: ["service-keys", handle] });
  const revoke = useMutation({
    mutationFn: ({ service, key }: { service: string; key: Key }) =>
      send("DELETE", `${path(service)}/${encodeURIComponent(key.id)}`),
    onSuccess: () => setAsked(null),
    onSettled: read,
  });
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{title}</h1>
            <p>{people.servicesWhat}</p>
          </div>
          <div className="acts">
            <button type="button" className="btn primary" onClick={() => setMaking(true)}>
              <Plus className="i s" aria-hidden="true" /> {people.newService}
            </button>
          </div>
        </div>
        <OrganisationTabs handle={handle} title={title} current="keys" />
        {made && (
          <ShownOnce
            title={people.keyMade(made.name)}
            value={made.key}
            what={people.keyMadeWhat}
            done={people.iHaveStored}
            state={people.worksNow}
            onDone={() => setMade(null)}
          />
        )}
        {members.isPending && <Skeleton rows={3} />}
        {members.error && (
          <Failure
            what={people.membersFailed}
            missing={people.noSuchOrganisation}
            error={members.error}
            retry={() => void members.refetch()}
          />
        )}
        {members.data && services.length === 0 && (
          <Empty title={people.noServices} pegs>
            {people.noServicesWhy}
          </Empty>
        )}
        {services.map((service, index) => (
          <section key={service.handle} className="stack tight" aria-label={service.name}>
            <div className="service-head">
              <h2>{service.name}</h2>
              <span className="dim">{nameRoles(service.roles)}</span>
              <RowButton
                action={people.newKey}
                of={service.name}
                onClick={() => setKeyFor(service.handle)}
              />
            </div>
            {keys[index]?.error && (
              <Failure what={people.keysFailed} error={keys[index].error as Error} />
            )}
            {(keys[index]?.data?.length ?? 0) > 0 ? (
              <KeyTable
                title={service.name}
                keys={[...(keys[index]?.data ?? [])].reverse()}
                onRevoke={(key) => setAsked({ service: service.handle, key })}
              />
            ) : (
              keys[index]?.isSuccess && <p className="dim">{people.noKeys}</p>
            )}
          </section>
        ))}
      </div>
      {isMaking && (
        <NewService
          organisation={handle}
          onDone={(service) => {
            setMaking(false);
            setKeyFor(service);
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {keyFor && (
        <NewKey
          path={path(keyFor)}
          onMade={async (key) => {
            setKeyFor("");
            setMade(key);
            await read();
          }}
          onClose={() => setKeyFor("")}
        />
      )}
      {asked && (
        <Confirm
          title={people.revokeQuestion(asked.key.name)}
          what={people.revokeWhat}
          action={messages.revoke}
          error={revoke.error}
          isPending={revoke.isPending}
          onConfirm={() => revoke.mutate(asked)}
          onClose={() => {
            setAsked(null);
            revoke.reset();
          }}
        />
      )}
    </div>
  );
}
