import type { QueryClient } from "@tanstack/react-query";

/**
 * Read anew what a query shows, because it has changed.
 *
 * A first reading that is under way may be older than the change: invalidating alone would keep it.
 */
export async function renew(client: QueryClient, queryKey: readonly unknown[]): Promise<void> {
  await client.cancelQueries({ queryKey });
  await client.invalidateQueries({ queryKey });
}
