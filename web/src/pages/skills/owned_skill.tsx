import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { send } from "../../api/client";
import { isSharedOnly, type Resource, resourceQuery } from "../../api/resources";
import { Confirm } from "../../parts/confirm";
import { ReviewCard } from "../../parts/review_card";
import { useReadAgain } from "../../parts/read_again";
import { InTheMarket, WhoSees } from "../../parts/who_sees";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";
import { skillWords } from "../../words/skills";
import { SkillForm } from "./skill_form";

interface OwnedSkillProps {
  id: string;
  isEditing: boolean;
  setEditing: (editing: boolean) => void;
}

/** Whose skill it is; those who may change it edit, share, publish and delete it. */
export function OwnedSkill({ id, isEditing, setEditing }: OwnedSkillProps) {
  const { data: resource } = useQuery(resourceQuery(id));
  if (!resource) return null;
  if (!resource.may_change)
    return (
      <>
        <p className="hint">
          {skillWords.ofAnother(resource.organisation || resource.owner)}{" "}
          {resource.vouched_by
            ? sharing.approvedHere(resource.vouched_by)
            : resource.visibility !== "global" && skillWords.notTrusted}
        </p>
        {isSharedOnly(resource) && <ReviewCard resource={resource} />}
      </>
    );
  if (isEditing)
    return (
      <SkillForm
        key={resource.revision}
        resource={resource}
        onDone={() => setEditing(false)}
        onCancel={() => setEditing(false)}
      />
    );
  return (
    <>
      <Actions resource={resource} onEdit={() => setEditing(true)} />
      <WhoSees key={`${resource.visibility} ${resource.organisation}`} resource={resource} />
      <InTheMarket resource={resource} />
    </>
  );
}

function Actions({ resource, onEdit }: { resource: Resource; onEdit: () => void }) {
  const navigate = useNavigate();
  const read = useReadAgain();
  const [isDeleting, setDeleting] = useState(false);
  const remove = useMutation({
    mutationFn: () => send("DELETE", `/resources/${resource.id}`),
    onSuccess: async () => {
      await navigate({ to: "/skills" });
      await read();
    },
  });
  return (
    <div className="acts">
      <button type="button" className="btn" onClick={onEdit}>
        <Pencil className="i s" aria-hidden="true" /> {skillWords.edit}
      </button>
      <button type="button" className="btn quiet" onClick={() => setDeleting(true)}>
        {sharing.deleteIt}
      </button>
      {isDeleting && (
        <Confirm
          title={sharing.deleteQuestion(resource.title)}
          what={skillWords.deleteWhat}
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
    </div>
  );
}
