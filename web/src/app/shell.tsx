import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { Menu, Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { hasAccount, type Session } from "../api/people";
import { sessionQuery } from "../api/queries";
import { Logo } from "../parts/logo";
import { messages } from "../words/messages";
import { people } from "../words/people";
import { AccountButton, AccountEntries } from "./account_menu";
import {
  BOARD,
  Item,
  Nav,
  nameOfPage,
  PAGES,
  PEOPLE,
  RECORDS,
  REST,
  TABS,
  WORK,
} from "./navigation";
import { KeyHelp, Palette } from "./palette";
import { PlainShell } from "./plain_shell";
import { useShortcuts } from "./shortcuts";
import { SignIn } from "./sign_in";
import { ThemeButton } from "./theme_button";

/** What is around every page: the frame, or the empty ground for a stranger, and the sign-in over either. */
export function Shell() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { data: session, isPending } = useQuery(sessionQuery);
  const wasIn = useRef(false);
  if (session?.signed_in) wasIn.current = true;
  // What somebody wrote before the session ended stays; a stranger sees nothing behind the sign-in.
  const isStranger = session?.sign_in_required === true && !session.signed_in && !wasIn.current;
  // A link is read once, by a page that stays.
  const isPlain = isStranger || path.endsWith("/join");
  return (
    <>
      {isPending && !isPlain ? (
        // The frame of a board is not for strangers, and who is there is not known yet.
        <main id="main" className="begins" aria-busy="true">
          <Logo />
        </main>
      ) : isPlain ? (
        <PlainShell path={path} />
      ) : (
        <Frame path={path} session={session} />
      )}
      <SignIn />
    </>
  );
}

/** Side bar, or on phones a bar above and tabs below. */
function Frame({ path, session }: { path: string; session: Session | undefined }) {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const mainRef = useRef<HTMLElement>(null);
  useShortcuts({ onPalette: () => setPaletteOpen(true), onHelp: () => setHelpOpen(true) });
  useFocusOnNewPage(mainRef);

  const person = hasAccount(session) ? session : undefined;
  const closeMenu = () => document.getElementById("menu-phone")?.hidePopover();
  return (
    <>
      <a className="skip" href="#main">
        {messages.skip}
      </a>
      <header className="bar">
        <Logo />
        <span>{nameOfPage(path)}</span>
        <span className="push">
          <button
            type="button"
            className="icon-btn"
            aria-label={messages.search}
            onClick={() => setPaletteOpen(true)}
          >
            <Search className="i" aria-hidden="true" />
          </button>
          <ThemeButton />
          <button
            type="button"
            className="icon-btn"
            aria-label={people.menu}
            popoverTarget="menu-phone"
          >
            <Menu className="i" aria-hidden="true" />
          </button>
        </span>
      </header>
      <div
        id="menu-phone"
        popover="auto"
        role="dialog"
        aria-label={people.menu}
        className="menu account sheet"
      >
        <Nav
          label={people.menu}
          entries={person ? [...REST, ...PEOPLE] : REST}
          path={path}
          tenant={person?.tenant}
          onGo={closeMenu}
        />
        {person && <AccountEntries session={person} menu="menu-phone" />}
      </div>
      <div className="app">
        <aside className="side" aria-label={messages.board}>
          <div className="brand">
            <Logo />
            <div>Pegboard</div>
          </div>
          <button type="button" className="jump" onClick={() => setPaletteOpen(true)}>
            <Search className="i s" aria-hidden="true" />
            <span>{messages.searchOrGo}</span>
            <kbd>Ctrl K</kbd>
          </button>
          <Nav label={messages.pages} entries={PAGES} path={path} />
          <Nav label={messages.board} entries={BOARD} path={path} />
          <Nav label={messages.work} entries={WORK} path={path} />
          <Nav label={messages.records} entries={RECORDS} path={path} />
          {person && (
            <Nav label={people.organisation} entries={PEOPLE} path={path} tenant={person.tenant} />
          )}
          <div className="me">
            {person ? (
              <AccountButton session={person} />
            ) : (
              <>
                <span className="face" aria-hidden="true">
                  {(session?.name || session?.caller || "?").charAt(0).toUpperCase()}
                </span>
                <div className="who">{session?.name || session?.caller || ""}</div>
              </>
            )}
            <ThemeButton />
          </div>
        </aside>
        <main id="main" tabIndex={-1} ref={mainRef}>
          <Outlet />
        </main>
      </div>
      <nav className="tabs-phone" aria-label={messages.pagesOnPhone}>
        {TABS.map((entry) => (
          <Item key={entry.to} entry={entry} path={path} />
        ))}
      </nav>
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
      {isHelpOpen && <KeyHelp onClose={() => setHelpOpen(false)} />}
    </>
  );
}

/** A new page moves the focus to its heading, so that screen readers begin there. */
function useFocusOnNewPage(main: React.RefObject<HTMLElement | null>) {
  // The page that is drawn; while another one loads, the old one is still there.
  const page = useRouterState({
    select: (state) => state.resolvedLocation?.pathname.split("/")[1],
  });
  const before = useRef(page);
  useEffect(() => {
    const isNew = before.current !== undefined && before.current !== page;
    before.current = page;
    const area = main.current;
    if (!isNew || !area || focusHeading(area)) return;
    // A page whose heading needs data draws it later.
    const observer = new MutationObserver(() => {
      if (focusHeading(area)) observer.disconnect();
    });
    observer.observe(area, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [page, main]);
}

/** Focuses the heading of the page, unless something on the page has the focus; says whether either holds. */
function focusHeading(area: HTMLElement): boolean {
  const focused = document.activeElement;
  if (focused !== area && area.contains(focused)) return true;
  const heading = area.querySelector<HTMLElement>("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  return heading !== null;
}
