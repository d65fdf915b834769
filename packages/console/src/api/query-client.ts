import { QueryClient } from '@tanstack/react-query';
import { ProblemError } from './request.js';

const MAX_RETRIES = 2;

/** Retries outages but not refusals, which would only repeat. */
const mayPass = (error: unknown): boolean => !(error instanceof ProblemError) || error.status >= 500;

export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        gcTime: 300_000,
        retry: (count, error) => count < MAX_RETRIES && mayPass(error),
      },
      mutations: { retry: false },
    },
  });
