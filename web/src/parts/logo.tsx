const PEGS: [number, number, string][] = [
  [4, 4, "peg"],
  [12, 4, "peg"],
  [20, 4, "hole"],
  [4, 12, "peg"],
  [12, 12, "hole"],
  [20, 12, "key"],
  [4, 20, "peg"],
  [12, 20, "peg"],
  [20, 20, "hole"],
  [4, 28, "peg"],
  [12, 28, "hole"],
  [20, 28, "hole"],
];

/** The "P" of seven pegs on a board of twelve holes. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 24 32" aria-hidden="true">
      {PEGS.map(([x, y, kind]) => (
        <circle key={`${x}-${y}`} className={kind} cx={x} cy={y} r={kind === "hole" ? 1.5 : 3.2} />
      ))}
    </svg>
  );
}
