import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../../api/client";
import { type Resource, resourceQuery } from "../../api/resources";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { Confirm } from "../../parts/confirm";
import { usePageTitle } from "../../parts/page_title";
import { useReadAgain } from "../../parts/read_again";
import { Failure, Skeleton } from "../../parts/states";
import { InTheMarket, WhoSees } from "../../parts/who_sees";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { modelWords } from "../../words/models";
import { sharing } from "../../words/resources";
import { ModelForm } from "./model_form";

/** One language model of a person, for those who may change it. */
export function ModelPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const resource = useQuery(resourceQuery(id));
  const title = resource.data?.title ?? "";
  usePageTitle(title);
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={title}>
          <CrumbLink to="/agents">{sharing.agents}</CrumbLink>
        </Crumbs>
        {resource.isPending && <Skeleton rows={4} />}
        {resource.error && (
          <Failure
            what={modelWords.failed}
            missing={modelWords.noModel}
            error={resource.error}
            retry={() => void resource.refetch()}
          />
        )}
        {resource.data && <Model resource={resource.data} />}
      </div>
    </div>
  );
}

function Model({ resource }: { resource: Resource }) {
  const navigate = useNavigate();
  const read = useReadAgain();
  const [isDeleting, setDeleting] = useState(false);
  const remove = useMutation({
    mutationFn: () => send("DELETE", `/resources/${resource.id}`),
    onSuccess: async () => {
      await navigate({ to: "/agents" });
      await read();
    },
  });
  return (
    <>
      <div className="head">
        <div>
          <h1>{resource.title}</h1>
          <p>
            <code>{resource.name}</code> {resource.description}
          </p>
        </div>
        {resource.may_change && (
          <div className="acts">
            <Link className="btn" to="/credentials" search={{ source: resource.name }}>
              {modelWords.storeKey}
            </Link>
            <button type="button" className="btn quiet" onClick={() => setDeleting(true)}>
              {sharing.deleteIt}
            </button>
          </div>
        )}
      </div>
      {resource.may_change && (
        <div className="beside">
          <ModelForm key={resource.revision} resource={resource} onDone={() => undefined} />
          <aside className="aside">
            <WhoSees key={`${resource.visibility} ${resource.organisation}`} resource={resource} />
            <InTheMarket resource={resource} />
          </aside>
        </div>
      )}
      {isDeleting && (
        <Confirm
          title={sharing.deleteQuestion(resource.title)}
          what={modelWords.deleteWhat}
          action={messages.delete}
          error={remove.error}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => {
            setDeleting(false);
            remove.reset();
          }}
        />
      )}
    </>
  );
}
