import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, ChevronsUpDown } from "lucide-react";
import { UI } from "../api/address";
import { send } from "../api/client";
import { organisationsQuery, type Session } from "../api/people";
import { sessionQuery } from "../api/queries";
import { forgetDrafts } from "../parts/drafts";
import { secrets } from "../words/credentials";
import { nameRoles, people } from "../words/people";

/** Ends the session. What the page holds belongs to this person, so it is loaded anew. */
async function signOut(): Promise<void> {
  await send("DELETE", "/session").catch(() => undefined);
  forgetDrafts();
  window.location.assign(UI);
}

/** Who is signed in, in the side bar; opens the account menu. */
export function AccountButton({ session }: { session: Session }) {
  return (
    <>
      <button type="button" className="account-button" popoverTarget="account">
        <span className="face" aria-hidden="true">
          {session.name.charAt(0).toUpperCase()}
        </span>
        <span className="who">
          {session.name}
          <span>{session.tenant}</span>
        </span>
        <span className="sr">{people.account}</span>
        <ChevronsUpDown className="i s" aria-hidden="true" />
      </button>
      <div
        id="account"
        popover="auto"
        role="dialog"
        aria-label={people.account}
        className="menu account"
      >
        <AccountEntries session={session} menu="account" />
      </div>
    </>
  );
}

/** Who you are, for whom you act, your keys, and signing out. */
export function AccountEntries({ session, menu }: { session: Session; menu: string }) {
  const client = useQueryClient();
  const { data: organisations = [] } = useQuery(organisationsQuery);
  const own = organisations.filter((item) => session.organisations.includes(item.handle));
  const act = useMutation({
    mutationFn: (organisation: string) => send<Session>("PUT", "/session", { organisation }),
    onSuccess: async (changed) => {
      client.setQueryData(sessionQuery.queryKey, changed);
      await client.invalidateQueries();
    },
  });
  const close = () => document.getElementById(menu)?.hidePopover();
  return (
    <>
      <div className="id">
        <b>{session.name}</b>
        <span>{session.handle}</span>
      </div>
      <h2 className="mini">{people.actFor}</h2>
      <ul>
        {own.map((item) => (
          <li key={item.handle}>
            <button
              type="button"
              aria-pressed={item.handle === session.tenant}
              disabled={act.isPending}
              onClick={() => act.mutate(item.handle)}
            >
              <span>
                {item.title}
                <small>{nameRoles(item.roles)}</small>
              </span>
              {item.handle === session.tenant && <Check className="i s" aria-hidden="true" />}
            </button>
          </li>
        ))}
        {act.error && <li className="none">{act.error.message}</li>}
        {own.length === 0 && <li className="none">{people.noOrganisation}</li>}
      </ul>
      <ul>
        <li>
          <Link to="/credentials" onClick={close}>
            {secrets.title}
          </Link>
        </li>
        <li>
          <Link to="/keys" onClick={close}>
            {people.keys}
          </Link>
        </li>
        <li>
          <Link to="/organisations" onClick={close}>
            {people.organisations}
          </Link>
        </li>
      </ul>
      <ul>
        <li>
          <button type="button" onClick={() => void signOut()}>
            {people.signOut}
          </button>
        </li>
      </ul>
    </>
  );
}
