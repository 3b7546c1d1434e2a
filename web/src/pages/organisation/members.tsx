import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { ApiError } from "../../api/errors";
import {
  addressOf,
  isOperator,
  type Member,
  type Organisation,
  type Session,
} from "../../api/people";
import { Confirm } from "../../parts/confirm";
import { RoleDialog } from "../../parts/role_dialog";
import { ShownOnce } from "../../parts/shown_once";
import { formatFull } from "../../words/format";
import { namePerson, people } from "../../words/people";
import { Table } from "../../parts/table";
import { MemberRow } from "./member_row";

interface MembersProps {
  organisation: Organisation;
  members: readonly Member[];
  session: Session | undefined;
  isAdministrator: boolean;
}

/** A question that a row of the list has asked. */
type Asked = { what: "roles" | "remove"; member: Member } | null;

/** Who waits, then who is in it; administrators decide in the row. */
export function Members({ organisation, members, session, isAdministrator }: MembersProps) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked>(null);
  const read = () =>
    Promise.all(
      [["members", organisation.handle], ["organisations"], ["session"]].map((queryKey) =>
        client.invalidateQueries({ queryKey }),
      ),
    );
  const path = (member: Member) =>
    `/organisations/${organisation.handle}/members/${encodeURIComponent(member.handle)}`;
  const decide = useMutation({
    mutationFn: ({ member, roles }: { member: Member; roles: string[] }) =>
      send("PUT", path(member), { roles }),
    onSuccess: () => setAsked(null),
    onSettled: read,
  });
  const remove = useMutation({
    mutationFn: (member: Member) => send("DELETE", path(member)),
    onSuccess: () => setAsked(null),
    onSettled: read,
  });
  const link = useMutation({
    mutationFn: (member: Member) =>
      send<Schema<"LinkAnswer">>("POST", "/people/links", { person: member.handle }),
  });
  const close = () => {
    setAsked(null);
    decide.reset();
    remove.reset();
  };
  const waiting = members.filter((member) => member.state === "waiting");
  const rows = [...waiting, ...members.filter((member) => member.state === "approved")];
  const name = namePerson(asked?.member.name, asked?.member.handle);
  return (
    <>
      {link.data && (
        <ShownOnce
          title={people.linkMade}
          value={addressOf(link.data)}
          what={people.linkWhat(formatFull(link.data.expires_at))}
          done={people.iHaveSent}
          onDone={() => link.reset()}
        />
      )}
      <section className="card">
        <Table
          className="people"
          caption={people.membersOf(organisation.title)}
          columns={[people.person, people.role, people.state, people.here]}
          hasActions
        >
          {rows.map((member) => (
            <MemberRow
              key={member.handle}
              member={member}
              title={organisation.title}
              isYou={member.handle === session?.handle}
              isAdministrator={isAdministrator}
              onRoles={() => setAsked({ what: "roles", member })}
              onRemove={() => setAsked({ what: "remove", member })}
              onLink={isOperator(session) ? () => link.mutate(member) : undefined}
            />
          ))}
        </Table>
      </section>
      {isAdministrator && <p className="hint">{people.removeHint}</p>}
      {asked?.what === "roles" && (
        <RoleDialog
          organisation={organisation.handle}
          title={asked.member.state === "waiting" ? people.letInTitle(name) : people.rolesOf(name)}
          roles={asked.member.state === "waiting" ? ["member"] : asked.member.roles}
          action={asked.member.state === "waiting" ? people.letIn : people.save}
          error={explain(decide.error)}
          isPending={decide.isPending}
          onChoose={(roles) => decide.mutate({ member: asked.member, roles })}
          onClose={close}
        />
      )}
      {asked?.what === "remove" && (
        <Confirm
          {...wordsOf(asked.member, organisation.title, asked.member.handle === session?.handle)}
          error={explain(remove.error)}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate(asked.member)}
          onClose={close}
        />
      )}
    </>
  );
}

function wordsOf(member: Member, title: string, isYou: boolean) {
  if (member.state === "waiting")
    return {
      title: people.turnDownQuestion(namePerson(member.name, member.handle)),
      what: people.turnDownWhat,
      action: people.turnDown,
    };
  if (isYou)
    return {
      title: people.leaveQuestion(title),
      what: people.leaveWhat,
      action: people.leave(title),
    };
  return {
    title: people.removeQuestion(namePerson(member.name, member.handle), title),
    what: people.removeWhat,
    action: people.remove,
  };
}

/** A member who is no longer there was removed by somebody else: the list says who is left. */
function explain(error: Error | null): Error | null {
  if (!(error instanceof ApiError) || ![404, 409].includes(error.status)) return error;
  return new Error(`${error.message} ${people.changedMeanwhile}`);
}
