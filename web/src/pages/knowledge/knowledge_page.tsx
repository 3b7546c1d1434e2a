import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { basesQuery } from "../../api/knowledge";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import "../../styles/knowledge.css";
import { knowledge } from "../../words/knowledge";
import { BaseList, FindBase } from "./base_list";
import { BaseView } from "./base_view";
import { DeleteDialog } from "./delete_dialog";
import { NewBase } from "./new_base";
import { ReplaceDialog } from "./replace_dialog";
import { ReviewDialog } from "./review_dialog";

export interface KnowledgeSearch {
  q?: string;
  state?: string;
  tab?: string;
  find?: string;
  new?: string;
  replace?: string;
}

/** All bases, and the documents of one of them. */
export function KnowledgePage({ dialog = "" }: { dialog?: "review" | "delete" | "" }) {
  const { base = "", doc = "" } = useParams({ strict: false }) as { base?: string; doc?: string };
  const search = useSearch({ strict: false }) as KnowledgeSearch;
  const navigate = useNavigate();
  const bases = useQuery(basesQuery);
  usePageTitle(knowledge.knowledge);
  const closeNew = () =>
    void navigate({ to: ".", search: (before) => ({ ...before, new: undefined }) });
  const closeDialog = () => void navigate({ to: "/knowledge/$base", params: { base } });
  const isNone = bases.data?.length === 0;
  return (
    <div className="split kb" data-open={base !== "" || undefined}>
      <section className="list" aria-label={knowledge.knowledge}>
        <div className="top">
          <div className="line">
            <h1>{knowledge.knowledge}</h1>
            <span className="faint num">{bases.data?.length}</span>
          </div>
          {!isNone && <FindBase />}
          <NewBase isOpen={search.new !== undefined} onClose={closeNew} />
        </div>
        {bases.isPending && <Skeleton rows={4} />}
        {bases.error && (
          <Failure
            what={knowledge.basesFailed}
            error={bases.error}
            retry={() => void bases.refetch()}
          />
        )}
        {isNone && (
          <div className="quiet-row only-narrow">
            <Empty title={knowledge.noBases} pegs>
              {knowledge.noBasesWhy}
            </Empty>
          </div>
        )}
        <BaseList bases={bases.data ?? []} chosen={base} wanted={search.find ?? ""} />
      </section>
      {base ? (
        <BaseView key={base} id={base} />
      ) : (
        <section className="detail" aria-label={knowledge.base}>
          <div className="in-col">
            {isNone ? (
              <Empty title={knowledge.noBases} pegs>
                {knowledge.noBasesWhy}
              </Empty>
            ) : (
              <p className="faint nothing">{bases.data ? knowledge.chooseBase : ""}</p>
            )}
          </div>
        </section>
      )}
      {search.replace && <ReplaceDialog base={base} id={search.replace} />}
      {dialog === "review" && <ReviewDialog base={base} doc={doc} onClose={closeDialog} />}
      {dialog === "delete" && <DeleteDialog base={base} doc={doc} onClose={closeDialog} />}
    </div>
  );
}

export const ReviewPage = () => <KnowledgePage dialog="review" />;
export const DeletePage = () => <KnowledgePage dialog="delete" />;
