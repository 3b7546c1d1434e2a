import { Outlet } from "@tanstack/react-router";
import { Logo } from "../parts/logo";
import { usePageTitle } from "../parts/page_title";
import { messages } from "../words/messages";
import { ThemeButton } from "./theme_button";

/** The empty ground on which a stranger signs in, or opens a link. */
export function PlainShell({ path }: { path: string }) {
  const isJoining = path.endsWith("/join");
  usePageTitle(messages.signIn);
  return (
    <>
      <header className="plain-top">
        <Logo />
        <span>Pegboard</span>
        <ThemeButton />
      </header>
      <main id="main" className="plain" tabIndex={-1}>
        {isJoining ? <Outlet /> : <h1 className="sr">{messages.signIn}</h1>}
      </main>
    </>
  );
}
