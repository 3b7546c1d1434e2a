import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { send } from "../../api/client";
import { marketQuery, type Resource } from "../../api/resources";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { useReadAgain } from "../../parts/read_again";
import { ResourceRows } from "../../parts/resource_rows";
import { Empty, Failure, Problem, Skeleton } from "../../parts/states";
import { catalogues } from "../../words/catalogues";
import { people } from "../../words/people";
import { sharing } from "../../words/resources";
import { Outside } from "./outside";

/** What organisations of this server publish after a review; people install it for themselves. */
export function MarketPage() {
  usePageTitle(sharing.market);
  const { q = "", from } = useSearch({ strict: false }) as { q?: string; from?: string };
  const isOutside = from === "outside";
  const navigate = useNavigate();
  const market = useQuery(marketQuery);
  const read = useReadAgain();
  const install = useMutation({
    mutationFn: ({ id, isInstalled }: { id: string; isInstalled: boolean }) =>
      send(isInstalled ? "DELETE" : "POST", `/resources/${id}/subscription`),
    onSettled: read,
  });
  const wanted = q.trim().toLowerCase();
  const found = (market.data ?? []).filter((item) =>
    `${item.title} ${item.name} ${item.description} ${item.organisation}`
      .toLowerCase()
      .includes(wanted),
  );
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{sharing.market}</h1>
            <p>{isOutside ? catalogues.outsideWhat : sharing.marketWhat}</p>
          </div>
        </div>
        <nav className="seg" aria-label={catalogues.fromWhere}>
          <Link
            to="/market"
            activeOptions={{ exact: true }}
            aria-current={isOutside ? undefined : "true"}
          >
            {catalogues.organisations}
          </Link>
          <Link
            to="/market"
            search={{ from: "outside" }}
            activeOptions={{ exact: true }}
            aria-current={isOutside ? "true" : undefined}
          >
            {catalogues.outside}
          </Link>
        </nav>
        {isOutside ? (
          <Outside />
        ) : (
          <>
            {market.isPending && <Skeleton rows={4} />}
            {market.error && (
              <Failure
                what={sharing.marketFailed}
                error={market.error}
                retry={() => void market.refetch()}
              />
            )}
            {market.data?.length === 0 && (
              <Empty title={sharing.nobodyPublishes} pegs>
                {sharing.nobodyPublishesWhy}
              </Empty>
            )}
            {(market.data?.length ?? 0) > 0 && (
              <>
                <div className="find">
                  <Search className="i s" aria-hidden="true" />
                  <input
                    className="in"
                    type="search"
                    aria-label={sharing.findInMarket}
                    placeholder={sharing.findInMarket}
                    value={q}
                    onChange={(event) =>
                      void navigate({
                        to: "/market",
                        search: { q: event.target.value || undefined },
                        replace: true,
                      })
                    }
                  />
                </div>
                <p className="hint">{sharing.installWhat}</p>
                <Problem error={install.error} />
                {found.length === 0 && <p className="dim nothing">{sharing.nothingFits}</p>}
                {found.length > 0 && (
                  <ResourceRows resources={found}>
                    {(item) => (
                      <Offer
                        resource={item}
                        isPending={install.isPending}
                        onInstall={(isInstalled) => install.mutate({ id: item.id, isInstalled })}
                      />
                    )}
                  </ResourceRows>
                )}
              </>
            )}
          </>
        )}
      </div>
    </div>
  );
}

interface OfferProps {
  resource: Resource;
  isPending: boolean;
  onInstall: (isInstalled: boolean) => void;
}

function Offer({ resource, isPending, onInstall }: OfferProps) {
  const isInstalled = resource.seen_as === "subscribed";
  const isThere = isInstalled || resource.seen_as !== "none";
  return (
    <>
      {resource.description && <span className="about">{resource.description}</span>}
      <span className="push acts">
        {isThere && (
          <StateMark
            state="done"
            word={isInstalled ? sharing.installed : sharing.publishStatus.approved}
          />
        )}
        {(isInstalled || !isThere) && (
          <button
            type="button"
            className="btn sm"
            aria-label={`${isInstalled ? people.remove : sharing.install}: ${resource.title}`}
            disabled={isPending}
            onClick={() => onInstall(isInstalled)}
          >
            {isInstalled ? people.remove : sharing.install}
          </button>
        )}
      </span>
    </>
  );
}
