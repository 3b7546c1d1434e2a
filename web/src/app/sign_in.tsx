import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { send } from "../api/client";
import { sessionQuery } from "../api/queries";
import { Dialog } from "../parts/dialog";
import { Problem } from "../parts/states";
import { messages } from "../words/messages";

/** Asks for a token where the server wants one; what was being written stays. */
export function SignIn() {
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const [isOut, setOut] = useState(false);
  const [token, setToken] = useState("");
  useEffect(() => {
    const onOut = () => setOut(true);
    window.addEventListener("signed-out", onOut);
    return () => window.removeEventListener("signed-out", onOut);
  }, []);
  const signIn = useMutation({
    mutationFn: () => send("POST", "/session", { token: token.trim() }),
    onSuccess: async () => {
      setToken("");
      setOut(false);
      window.dispatchEvent(new Event("reconnect-now"));
      await client.resetQueries();
    },
  });
  const isNeeded = isOut || (session?.sign_in_required === true && !session.signed_in);
  if (!isNeeded) return null;
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
        <p className="dim">{messages.signInWhy}</p>
        <div className="field">
          <label htmlFor="token">{messages.token}</label>
          <input
            id="token"
            className="in mono"
            type="password"
            autoComplete="off"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </div>
        <Problem error={signIn.error} />
        <div>
          <button
            type="submit"
            className="btn primary"
            disabled={signIn.isPending || token.trim() === ""}
          >
            {messages.signIn}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
