import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { API } from "../api/address";
import { send } from "../api/client";
import { sessionQuery } from "../api/queries";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { Problem } from "../parts/states";
import { messages } from "../words/messages";

/** Asks for a sign-in where the server wants one; what was being written stays. */
export function SignIn() {
  const client = useQueryClient();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { data: session } = useQuery(sessionQuery);
  const [isOut, setOut] = useState(false);
  const [name, setName] = useState("");
  const [secret, setSecret] = useState("");
  useEffect(() => {
    const onOut = () => setOut(true);
    window.addEventListener("signed-out", onOut);
    return () => window.removeEventListener("signed-out", onOut);
  }, []);
  const hasAccounts = session?.accounts === true;
  const signIn = useMutation({
    mutationFn: () =>
      send(
        "POST",
        "/session",
        hasAccounts ? { name: name.trim(), password: secret } : { token: secret.trim() },
      ),
    onSuccess: async () => {
      setSecret("");
      setOut(false);
      window.dispatchEvent(new Event("reconnect-now"));
      await client.resetQueries();
    },
  });
  const isNeeded = isOut || (session?.sign_in_required === true && !session.signed_in);
  if (!isNeeded || path.endsWith("/join")) return null;
  const isEmpty = secret.trim() === "" || (hasAccounts && name.trim() === "");
  return (
    <Dialog label={messages.signIn} onClose={() => undefined} className="sign-in">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <h2>{messages.signIn}</h2>
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
        <Problem error={signIn.error} />
        <div>
          <button type="submit" className="btn primary" disabled={signIn.isPending || isEmpty}>
            {messages.signIn}
          </button>
          {session?.identity_provider && (
            <a className="btn" href={`${API}/session/oidc`}>
              {messages.signInElsewhere}
            </a>
          )}
        </div>
      </form>
    </Dialog>
  );
}
