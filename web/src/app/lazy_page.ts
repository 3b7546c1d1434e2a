import { lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { UI } from "../api/address";
import { Unreachable } from "../api/errors";

/** Whether the server answers, rather than a proxy in its place. */
export function answers(): Promise<boolean> {
  return fetch(`${UI}/`, { method: "HEAD", cache: "no-store" }).then(
    (answer) => answer.status < 500,
    () => false,
  );
}

/**
 * A page that is fetched when it is opened.
 *
 * The router loads everything anew where a file of a page is missing, as after a new release. While the
 * server is away that would lose what is shown, so the page says that the server does not answer instead.
 */
export function lazyPage<
  Name extends string,
  Module extends Record<Name, ComponentType<Record<string, never>>>,
>(load: () => Promise<Module>, name: Name) {
  const loadOrExplain = async () => {
    try {
      return await load();
    } catch (error) {
      throw (await answers()) ? error : new Unreachable();
    }
  };
  return lazyRouteComponent(loadOrExplain, name);
}
