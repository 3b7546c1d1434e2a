import { Link } from "@tanstack/react-router";
import { Building2, KeyRound, LockKeyhole } from "lucide-react";
import { secrets } from "../../words/credentials";
import { people } from "../../words/people";
import { settingWords } from "../../words/settings";

const PAGES = [
  { to: "/keys", name: people.keys, icon: KeyRound },
  { to: "/credentials", name: secrets.title, icon: LockKeyhole },
  { to: "/organisations", name: people.organisations, icon: Building2 },
] as const;

/** The pages of what else is the caller's. */
export function YoursCard() {
  return (
    <section className="card" aria-label={settingWords.alsoYours}>
      <header>
        <h2>{settingWords.alsoYours}</h2>
      </header>
      <ul className="rows">
        {PAGES.map(({ to, name, icon: Icon }) => (
          <li className="go" key={to}>
            <Link to={to}>
              <span className="tile">
                <Icon className="i" aria-hidden="true" />
              </span>
              <span className="t">
                <b>{name}</b>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
