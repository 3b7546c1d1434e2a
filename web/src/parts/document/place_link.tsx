import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface PlaceLinkProps {
  place: {
    base: string;
    document: string;
    page: number;
    start: number;
    end: number;
    revision?: number;
  };
  className?: string;
  label?: string;
  children: ReactNode;
}

/** Leads to a place in a document: the page is opened at the span. */
export function PlaceLink({ place, className, label, children }: PlaceLinkProps) {
  return (
    <Link
      className={className}
      aria-label={label}
      to="/knowledge/$base/$doc"
      params={{ base: place.base, doc: place.document }}
      search={{
        page: place.page > 0 ? String(place.page) : undefined,
        span: `${place.start}-${place.end}`,
        revision: place.revision === undefined ? undefined : String(place.revision),
      }}
    >
      {children}
    </Link>
  );
}
