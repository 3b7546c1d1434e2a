import { Link, type LinkComponent } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

interface CrumbsProps {
  /** What the links are, for those who do not see them. */
  label: string;
  /** The page itself, behind the pages above it; without it its heading says so. */
  here?: ReactNode;
  /** Links to the pages above. */
  children: ReactNode;
}

/** Where a page is. */
export function Crumbs({ label, here, children }: CrumbsProps) {
  return (
    <nav className="crumb" aria-label={label}>
      {children}
      {here && (
        <>
          <ChevronRight className="i s" aria-hidden="true" />
          <span aria-current="page">{here}</span>
        </>
      )}
    </nav>
  );
}

const EXACT = { exact: true };

/** A page above: the router marks it as the current page only where it is the one shown. */
export const CrumbLink: LinkComponent<"a"> = (props) => <Link activeOptions={EXACT} {...props} />;
