import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { mayAdminister, membersQuery, organisationsQuery } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { reviewsQuery } from "../../api/resources";
import { people } from "../../words/people";
import { quotaWords } from "../../words/quotas";
import { sharing } from "../../words/resources";
import { roleWords } from "../../words/roles";

interface OrganisationTabsProps {
  handle: string;
  title: string;
  current: "members" | "roles" | "keys" | "quotas" | "reviews";
}

/** The parts of an organisation; members who administer nothing have two of them. */
export function OrganisationTabs({ handle, title, current }: OrganisationTabsProps) {
  const { data: session } = useQuery(sessionQuery);
  const { data: organisations } = useQuery(organisationsQuery);
  const { data: members } = useQuery(membersQuery(handle));
  const own = organisations?.find((item) => item.handle === handle);
  const isAdministrator = own !== undefined && mayAdminister(session, own);
  const { data: reviews = [] } = useQuery({ ...reviewsQuery, enabled: isAdministrator });
  if (!own) return null;
  const waiting = reviews.filter((item) => item.organisation === handle).length;
  return (
    <nav className="tabs" aria-label={people.about(title)}>
      <Link
        to="/organisations/$handle/members"
        params={{ handle }}
        aria-current={current === "members" ? "page" : undefined}
      >
        {people.members}
        {members && (
          <span className="n">{members.filter((item) => item.state === "approved").length}</span>
        )}
      </Link>
      {isAdministrator && (
        <>
          <Link
            to="/organisations/$handle/roles"
            params={{ handle }}
            aria-current={current === "roles" ? "page" : undefined}
          >
            {roleWords.roles}
          </Link>
          <Link
            to="/organisations/$handle/keys"
            params={{ handle }}
            aria-current={current === "keys" ? "page" : undefined}
          >
            {people.serviceKeys}
          </Link>
        </>
      )}
      <Link
        to="/organisations/$handle/quotas"
        params={{ handle }}
        aria-current={current === "quotas" ? "page" : undefined}
      >
        {quotaWords.quotas}
      </Link>
      {isAdministrator && (
        <Link
          to="/organisations/$handle/reviews"
          params={{ handle }}
          aria-current={current === "reviews" ? "page" : undefined}
        >
          {sharing.reviews}
          {waiting > 0 && <span className="n">{waiting}</span>}
        </Link>
      )}
    </nav>
  );
}
