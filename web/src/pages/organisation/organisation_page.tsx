import { useMutation, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { addressOf, mayAdminister, membersQuery, organisationsQuery } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { usePageTitle } from "../../parts/page_title";
import { RoleDialog } from "../../parts/role_dialog";
import { ShownOnce } from "../../parts/shown_once";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { formatFull } from "../../words/format";
import { nameRoles, people } from "../../words/people";
import { Members } from "./members";
import { OrganisationTabs } from "./organisation_tabs";

/** One organisation: who is in it, who waits, and links that invite others. */
export function OrganisationPage() {
  const { handle = "" } = useParams({ strict: false }) as { handle?: string };
  const { data: session } = useQuery(sessionQuery);
  const organisations = useQuery(organisationsQuery);
  const members = useQuery(membersQuery(handle));
  const [isInviting, setInviting] = useState(false);
  const organisation = organisations.data?.find((item) => item.handle === handle);
  const title = organisation?.title ?? handle;
  usePageTitle(title);
  const invite = useMutation({
    mutationFn: (roles: string[]) =>
      send<Schema<"LinkAnswer">>("POST", "/people/links", { organisation: handle, roles }),
    onSuccess: () => setInviting(false),
  });
  const isAdministrator = organisation ? mayAdminister(session, organisation) : false;
  const approved = members.data?.filter((member) => member.state === "approved") ?? [];
  return (
    <div className="page">
      <div className="wide stack">
        {(organisations.data?.length ?? 0) > 1 && (
          <Crumbs label={people.organisations} here={title}>
            <CrumbLink to="/organisations">{people.organisations}</CrumbLink>
          </Crumbs>
        )}
        <div className="head">
          <div>
            <h1>{title}</h1>
            {organisation && members.data && (
              <p>
                {people.countPeople(approved.length)}
                {". "}
                {organisation.roles.length > 0 && people.youAre(nameRoles(organisation.roles))}
              </p>
            )}
          </div>
          {isAdministrator && (
            <div className="acts">
              <button type="button" className="btn primary" onClick={() => setInviting(true)}>
                <UserPlus className="i s" aria-hidden="true" /> {people.invite}
              </button>
            </div>
          )}
        </div>
        <OrganisationTabs handle={handle} title={title} current="members" />
        {invite.data && (
          <ShownOnce
            title={people.linkMade}
            value={addressOf(invite.data)}
            what={people.linkWhat(formatFull(invite.data.expires_at))}
            done={people.iHaveSent}
            onDone={() => invite.reset()}
          />
        )}
        {members.isPending && <Skeleton rows={4} />}
        {members.error && (
          <Failure
            what={people.membersFailed}
            missing={people.noSuchOrganisation}
            error={members.error}
            retry={() => void members.refetch()}
          />
        )}
        {organisation && members.data && (
          <Members
            organisation={organisation}
            members={members.data}
            session={session}
            isAdministrator={isAdministrator}
          />
        )}
        {members.data?.length === 1 && isAdministrator && (
          <Empty title={people.onlyYou} pegs>
            {people.onlyYouWhy}
          </Empty>
        )}
      </div>
      {isInviting && (
        <RoleDialog
          organisation={handle}
          title={people.inviteTo(title)}
          roles={["member"]}
          action={people.makeLink}
          hint={people.onlyYouWhy}
          error={invite.error}
          isPending={invite.isPending}
          onChoose={(roles) => invite.mutate(roles)}
          onClose={() => {
            setInviting(false);
            if (invite.error) invite.reset();
          }}
        />
      )}
    </div>
  );
}
