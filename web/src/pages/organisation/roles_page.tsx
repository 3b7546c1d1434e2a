import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { type Schema, send } from "../../api/client";
import { mayAdminister, organisationsQuery, rolesQuery } from "../../api/people";
import { sessionQuery, toolsQuery } from "../../api/queries";
import { Confirm } from "../../parts/confirm";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { type Draft, type Levels, listChanges, listSources } from "../../stream/role_levels";
import { people } from "../../words/people";
import { roleWords } from "../../words/roles";
import { NewRole } from "./new_role";
import { OrganisationTabs } from "./organisation_tabs";
import { RoleMatrix } from "./role_matrix";

/** What each role of an organisation may do with each source, and its own roles. */
export function RolesPage() {
  const { handle = "" } = useParams({ strict: false }) as { handle?: string };
  const { data: session } = useQuery(sessionQuery);
  const { data: organisations } = useQuery(organisationsQuery);
  const organisation = organisations?.find((item) => item.handle === handle);
  const roles = useQuery(rolesQuery(handle));
  const [isNew, setNew] = useState(false);
  const title = organisation?.title ?? handle;
  usePageTitle(roleWords.roles);
  const mayChange = organisation ? mayAdminister(session, organisation) : false;
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{title}</h1>
            <p>{roleWords.whatRoles}</p>
          </div>
          {mayChange && (
            <div className="acts">
              <button type="button" className="btn primary" onClick={() => setNew(true)}>
                <Plus className="i s" aria-hidden="true" /> {roleWords.newRole}
              </button>
            </div>
          )}
        </div>
        <OrganisationTabs handle={handle} title={title} current="roles" />
        {roles.isPending && <Skeleton rows={5} />}
        {roles.error && (
          <Failure
            what={roleWords.rolesFailed}
            missing={people.noSuchOrganisation}
            error={roles.error}
            retry={() => void roles.refetch()}
          />
        )}
        {roles.data && (
          <Matrix
            key={roles.data.map((item) => item.changed_at).join()}
            handle={handle}
            roles={roles.data}
            mayChange={mayChange}
          />
        )}
      </div>
      {isNew && <NewRole handle={handle} onClose={() => setNew(false)} />}
    </div>
  );
}

interface MatrixProps {
  handle: string;
  roles: readonly Schema<"RoleAnswer">[];
  mayChange: boolean;
}

function Matrix({ handle, roles, mayChange }: MatrixProps) {
  const client = useQueryClient();
  const { data: tools = [] } = useQuery(toolsQuery);
  const stored: Draft = useMemo(
    () => Object.fromEntries(roles.map((item) => [item.name, item.levels as Levels])),
    [roles],
  );
  const [draft, setDraft] = useState(stored);
  const [removing, setRemoving] = useState("");
  const sources = useMemo(() => listSources(tools), [tools]);
  const changes = listChanges(stored, draft);
  const read = () => client.invalidateQueries({ queryKey: ["roles", handle] });
  const path = (role: string) => `/organisations/${handle}/roles/${role}`;
  const titleOf = (name: string) => roles.find((item) => item.name === name)?.title || name;
  const isEmpty = changes.some((item) => Object.keys(draft[item.role] ?? {}).length === 0);
  const save = useMutation({
    mutationFn: async () => {
      for (const role of new Set(changes.map((item) => item.role))) {
        const title = roles.find((item) => item.name === role)?.title ?? "";
        await send("PUT", path(role), { levels: draft[role], title });
      }
    },
    onSettled: read,
  });
  const remove = useMutation({
    mutationFn: () => send("DELETE", path(removing)),
    onSuccess: () => setRemoving(""),
    onSettled: read,
  });
  const word = (level: string) => roleWords.levels[level || "none"] ?? level;
  return (
    <form
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <RoleMatrix
        sources={sources}
        roles={roles}
        stored={stored}
        draft={draft}
        onChange={mayChange ? setDraft : undefined}
        onRemove={setRemoving}
      />
      <Problem error={save.error} />
      {changes.length > 0 && (
        <div className="banner savebar" role="status">
          <span>
            <b>{roleWords.changes(changes.length)}.</b>{" "}
            {changes
              .slice(0, 3)
              .map((item) =>
                roleWords.gives(
                  titleOf(item.role),
                  item.source,
                  word(item.before),
                  word(item.after),
                ),
              )
              .join("; ")}
            {". "}
            {isEmpty ? roleWords.oneLevel : roleWords.holdsAtOnce}
          </span>
          <button type="button" className="btn sm" onClick={() => setDraft(stored)}>
            {roleWords.discard}
          </button>
          <button type="submit" className="btn primary sm" disabled={isEmpty || save.isPending}>
            {people.save}
          </button>
        </div>
      )}
      {removing && (
        <Confirm
          title={roleWords.removeQuestion(titleOf(removing))}
          what={roleWords.removeWhat}
          action={people.remove}
          error={remove.error}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => {
            setRemoving("");
            remove.reset();
          }}
        />
      )}
    </form>
  );
}
