import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { hasAccount } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { seesSettings } from "../../api/settings";
import { usePageTitle } from "../../parts/page_title";
import { messages } from "../../words/messages";
import { settingWords } from "../../words/settings";
import { AppearanceCard } from "./appearance_card";
import { PasswordCard, ProfileCard } from "./profile_card";
import { ServerView } from "./server_view";
import { SessionsCard } from "./sessions_card";
import { YoursCard } from "./yours_card";
import "../../styles/records.css";

/** What a person sets for themselves, and for operators what the server runs with. */
export function SettingsPage() {
  usePageTitle(messages.settings);
  const { tab = "" } = useSearch({ strict: false }) as { tab?: string };
  const { data: session } = useQuery(sessionQuery);
  const seesServer = seesSettings(session);
  const isServer = tab === "server" && seesServer;
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{messages.settings}</h1>
            <p>{isServer ? settingWords.serverWhat : settingWords.what}</p>
          </div>
        </div>
        {seesServer && (
          <nav className="tabs" aria-label={settingWords.which}>
            <Link
              to="/settings"
              activeOptions={{ exact: true }}
              aria-current={isServer ? undefined : "page"}
            >
              {settingWords.you}
            </Link>
            <Link
              to="/settings"
              search={{ tab: "server" }}
              activeOptions={{ exact: true }}
              aria-current={isServer ? "page" : undefined}
            >
              {settingWords.server}
            </Link>
          </nav>
        )}
        {isServer ? (
          <ServerView />
        ) : (
          <div className="stack settings">
            {hasAccount(session) && (
              <>
                <ProfileCard />
                <PasswordCard />
                <SessionsCard />
              </>
            )}
            <AppearanceCard />
            {hasAccount(session) && <YoursCard />}
          </div>
        )}
      </div>
    </div>
  );
}
