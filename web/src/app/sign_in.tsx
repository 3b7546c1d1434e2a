import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { API, UI } from "../api/address";
import { send, setCsrfToken } from "../api/client";
import { ApiError } from "../api/errors";
import type { Session } from "../api/people";
import { sessionQuery } from "../api/queries";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { MarkIcon } from "../parts/marks";
import { Problem, useCountdown } from "../parts/states";
import { messages } from "../words/messages";
import { people } from "../words/people";
import { findConnectLink, keepPlace } from "./place";

/** Asks for a sign-in where the server wants one; what was being written stays. */
export function SignIn() {
  const client = useQueryClient();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { data: session, dataUpdatedAt } = useQuery(sessionQuery);
  const [outAt, setOutAt] = useState(0);
  const [connectLink] = useState(() => findConnectLink(window.location.hash));
  const isIn = session?.signed_in === true;
  useEffect(() => {
    if (isIn && connectLink) window.location.replace(connectLink);
  }, [isIn, connectLink]);
  // Whose page this is: what was written stays for this person, and is lost to another one.
  const owner = useRef("");
  if (session?.signed_in) owner.current = session.handle || session.caller;
  useEffect(() => {
    const onOut = () => setOutAt(Date.now());
    window.addEventListener("signed-out", onOut);
    return () => window.removeEventListener("signed-out", onOut);
  }, []);
  const goOn = async (signed: Session) => {
    const before = owner.current;
    if (before && before !== (signed.handle || signed.caller)) return window.location.assign(UI);
    setCsrfToken(signed.csrf);
    client.setQueryData(sessionQuery.queryKey, signed);
    window.dispatchEvent(new Event("reconnect-now"));
    await (before ? client.invalidateQueries() : client.resetQueries());
  };
  // What was refused before the session began says nothing about it.
  const isOut = outAt > 0 && !(session?.signed_in === true && dataUpdatedAt > outAt);
  const isNeeded = isOut || (session?.sign_in_required === true && !session.signed_in);
  if (!isNeeded || path.endsWith("/join")) return null;
  return (
    <SignInDialog
      hasAccounts={session?.accounts === true}
      hasProvider={session?.identity_provider === true}
      before={owner.current}
      onSignedIn={(signed) => void goOn(signed)}
    />
  );
}

interface SignInDialogProps {
  hasAccounts: boolean;
  /** Whether an identity provider signs people in. */
  hasProvider: boolean;
  /** Who was signed in until now; empty for nobody. */
  before: string;
  onSignedIn: (session: Session) => void;
}

function SignInDialog({ hasAccounts, hasProvider, before, onSignedIn }: SignInDialogProps) {
  const [name, setName] = useState(hasAccounts ? before : "");
  const [secret, setSecret] = useState("");
  const signIn = useMutation({
    mutationFn: () =>
      send<Session>(
        "POST",
        "/session",
        hasAccounts ? { name: name.trim(), password: secret } : { token: secret.trim() },
      ),
    onSuccess: (session) => {
      setSecret("");
      onSignedIn(session);
    },
  });
  const isLimited = signIn.error instanceof ApiError && signIn.error.status === 429;
  const seconds = useCountdown(isLimited ? (signIn.error as ApiError).retryAfter : 0);
  const isEmpty = secret.trim() === "" || (hasAccounts && name.trim() === "");
  const title = before ? people.signedOut : messages.signIn;
  return (
    <Dialog label={title} onClose={() => undefined} className="sign-in">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <h2>{title}</h2>
        {before && <p className="dim">{people.draftsStay}</p>}
        {hasAccounts ? (
          <>
            <Field
              id="name"
              label={messages.personName}
              value={name}
              onChange={setName}
              autoComplete="username"
            />
            <Field
              id="password"
              label={messages.password}
              type="password"
              value={secret}
              onChange={setSecret}
              autoComplete="current-password"
            />
          </>
        ) : (
          <>
            <p className="dim">{messages.signInWhy}</p>
            <Field
              id="token"
              label={messages.token}
              type="password"
              value={secret}
              onChange={setSecret}
            />
          </>
        )}
        {isLimited && seconds > 0 ? (
          <p className="state wait" role="status">
            <MarkIcon mark="wait" small /> {people.tooManyTries(seconds)}
          </p>
        ) : (
          !isLimited && <Problem error={signIn.error} />
        )}
        <div className="acts">
          <button
            type="submit"
            className="btn primary"
            disabled={signIn.isPending || isEmpty || seconds > 0}
          >
            {before ? people.signInAndGoOn : messages.signIn}
          </button>
          {hasProvider && (
            <a className="btn" href={`${API}/session/oidc`} onClick={keepPlace}>
              {messages.signInElsewhere}
            </a>
          )}
        </div>
        {hasAccounts && <p className="hint">{people.passwordLost}</p>}
      </form>
    </Dialog>
  );
}
