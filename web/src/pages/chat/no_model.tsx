import { firstSteps } from "../../words/first_steps";

/** Stands where the composer would: how a model is set, for those who may. */
export function NoModel({ maySet }: { maySet: boolean }) {
  return (
    <div className="card empty no-model">
      <h2>{firstSteps.noModel}</h2>
      {maySet ? (
        <>
          <p>{firstSteps.startWith}</p>
          <pre className="command">
            <code>{firstSteps.command}</code>
          </pre>
          <p className="hint">
            {firstSteps.otherModels} {firstSteps.worksWithout}
          </p>
        </>
      ) : (
        <p>
          {firstSteps.whoSetsIt} {firstSteps.worksWithout}
        </p>
      )}
    </div>
  );
}
