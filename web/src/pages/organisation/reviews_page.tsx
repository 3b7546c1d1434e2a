import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { organisationsQuery } from "../../api/people";
import { isSharedOnly, resourceQuery, resourcesQuery, reviewsQuery } from "../../api/resources";
import { usePageTitle } from "../../parts/page_title";
import { ReviewCard } from "../../parts/review_card";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { sharing } from "../../words/resources";
import { OrganisationTabs } from "./organisation_tabs";

/** What members have sent for the market, and the caller reviews. */
export function ReviewsPage() {
  const { handle = "" } = useParams({ strict: false }) as { handle?: string };
  const { data: organisations } = useQuery(organisationsQuery);
  const reviews = useQuery(reviewsQuery);
  const title = organisations?.find((item) => item.handle === handle)?.title ?? handle;
  usePageTitle(sharing.reviews);
  const found = reviews.data?.filter((item) => item.organisation === handle) ?? [];
  const skills = useQuery(resourcesQuery("skill"));
  const agents = useQuery(resourcesQuery("agent"));
  const shared = [...(skills.data ?? []), ...(agents.data ?? [])].filter(
    (item) => isSharedOnly(item) && item.organisation === handle && !item.vouched_by,
  );
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{title}</h1>
            <p>{sharing.reviewsOf(title)}</p>
          </div>
        </div>
        <OrganisationTabs handle={handle} title={title} current="reviews" />
        {reviews.isPending && <Skeleton rows={3} />}
        {reviews.error && (
          <Failure
            what={sharing.reviewsFailed}
            error={reviews.error}
            retry={() => void reviews.refetch()}
          />
        )}
        {reviews.isSuccess && found.length === 0 && (
          <Empty title={sharing.noReviews}>{sharing.noReviewsWhy}</Empty>
        )}
        {found.map((item) => (
          <ReviewCard key={`${item.id} ${item.revision}`} resource={item} />
        ))}
        {shared.length > 0 && (
          <section className="stack" aria-label={sharing.sharedOnly}>
            <h2>{sharing.sharedOnly}</h2>
            <p className="dim">{sharing.sharedOnlyWhat}</p>
            {shared.map((item) => (
              <SharedCard key={`${item.id} ${item.revision}`} id={item.id} />
            ))}
          </section>
        )}
      </div>
    </div>
  );
}

/** A shared skill or agent, with its text. */
function SharedCard({ id }: { id: string }) {
  const { data: resource } = useQuery(resourceQuery(id));
  return resource?.may_review ? <ReviewCard resource={resource} /> : null;
}
