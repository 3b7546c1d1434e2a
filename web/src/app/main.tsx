import "../styles/pegboard.css";
import "../styles/console.css";
import "../styles/people.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "../api/errors";
import { nameWhatIsCut } from "./cut_names";
import { restorePlace } from "./place";
import { makeRouter } from "./router";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the server refuses it refuses again; what it cannot do now it may do in a moment.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

nameWhatIsCut();
restorePlace();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={makeRouter()} />
    </QueryClientProvider>
  </StrictMode>,
);
