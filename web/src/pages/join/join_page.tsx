import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Schema, send } from "../../api/client";
import { sessionQuery } from "../../api/queries";
import { Field } from "../../parts/field";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Problem } from "../../parts/states";
import { messages } from "../../words/messages";

/** The token of the link that was opened; it leaves the address at once. */
function takeLink(): string {
  const token = window.location.hash.replace(/^#link=/, "");
  if (token) window.history.replaceState(window.history.state, "", window.location.pathname);
  return token;
}

/** What a one-time link leads to: a new account, or a new password for one. */
export function JoinPage() {
  const [link] = useState(takeLink);
  const opened = useQuery({
    queryKey: ["link", link],
    queryFn: () => send<Schema<"OpenedLink">>("POST", "/people/link", { link }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="page">
      {!opened.data && <h1 className="sr">{messages.signIn}</h1>}
      {opened.error && (
        <Failure
          what="This link cannot be used"
          error={opened.error}
          retry={() => opened.refetch()}
        />
      )}
      {opened.data && <JoinForm link={link} opened={opened.data} />}
    </div>
  );
}

function JoinForm({ link, opened }: { link: string; opened: Schema<"OpenedLink"> }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [password, setPassword] = useState("");
  const [handle, setHandle] = useState("");
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [organisation, setOrganisation] = useState("");
  const isReset = opened.purpose === "sign_in";
  const isFirst = opened.purpose === "first";
  const join = useMutation({
    mutationFn: () =>
      isReset
        ? send("POST", "/session", { link, password })
        : send("POST", "/people/join", { link, password, handle, name, email, organisation }),
    onSuccess: async () => {
      await client.resetQueries({ queryKey: sessionQuery.queryKey });
      await navigate({ to: "/" });
      await client.invalidateQueries();
    },
  });
  const title = isReset ? `A new password for ${opened.handle}` : "Make your account";
  usePageTitle(title);
  return (
    <form
      className="card padded join"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        join.mutate();
      }}
    >
      <h1>{title}</h1>
      {isFirst && (
        <p className="dim">
          The first account runs this board. What was done here so far belongs to it.
        </p>
      )}
      {opened.organisation && <p className="dim">You join {opened.organisation}.</p>}
      {!isReset && (
        <>
          <Field
            id="handle"
            label="Handle"
            value={handle}
            onChange={setHandle}
            autoComplete="username"
            hint="2 to 12 characters, a to z and 0 to 9. It cannot be changed."
          />
          <Field id="name" label="Your name" value={name} onChange={setName} autoComplete="name" />
          <Field
            id="email"
            label="E-mail (optional)"
            type="email"
            value={email}
            onChange={setEmail}
            autoComplete="email"
          />
        </>
      )}
      {isFirst && (
        <Field
          id="organisation"
          label="Organisation"
          value={organisation}
          onChange={setOrganisation}
          hint="Its handle, by the same rule."
        />
      )}
      <Field
        id="password"
        label="Password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="new-password"
        hint="At least 10 characters."
      />
      <Problem error={join.error} />
      <div>
        <button type="submit" className="btn primary" disabled={join.isPending}>
          {isReset ? "Set the password" : "Make the account"}
        </button>
      </div>
    </form>
  );
}
