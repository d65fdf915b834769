import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { meQuery } from '../api/me.js';
import { get, ProblemError } from '../api/request.js';
import { EmptyState, ErrorState, Loading } from '../ui/empty.js';
import { Page } from '../ui/page.js';
import { parseSearch, type Search, writeSearch } from './search.js';
import { Shell } from './shell.js';

type Context = { queries: QueryClient };

const asSearch = (search: Record<string, unknown>): Search => search as Search;

const root = createRootRouteWithContext<Context>()({ component: Outlet, validateSearch: asSearch });

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: lazyRouteComponent(() => import('../pages/login/login.js'), 'Login'),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queries.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof ProblemError && error.status === 401)) throw error;
      throw redirect({ to: '/login', search: { next: location.href } });
    }
  },
});

/** Whatever waits for a person comes first. */
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: async () => {
    const { items } = await get<{ items: unknown[] }>('/v1/holds', { status: 'pending', limit: 1 });
    throw redirect({ to: items.length > 0 ? '/approvals' : '/overview', replace: true });
  },
});

const under = <Path extends string>(path: Path) => ({ getParentRoute: () => shell, path });

const routes = root.addChildren([
  login,
  shell.addChildren([
    home,
    createRoute({
      ...under('/approvals'),
      component: lazyRouteComponent(() => import('../pages/approvals/approvals.js'), 'Approvals'),
    }),
    createRoute({
      ...under('/approvals/$id'),
      component: lazyRouteComponent(() => import('../pages/hold/hold.js'), 'HoldPage'),
    }),
    createRoute({
      ...under('/overview'),
      component: lazyRouteComponent(() => import('../pages/overview/overview.js'), 'Overview'),
    }),
  ]),
]);

const NotFound = () => (
  <Page title="Not found">
    <EmptyState title="There is no such page">
      <p>Press Ctrl K to find one.</p>
    </EmptyState>
  </Page>
);

const Failed = ({ error, reset }: { error: unknown; reset(): void }) => (
  <Page title="Problem">
    <ErrorState error={error} retry={reset} />
  </Page>
);

const Pending = () => (
  <Page title="Capstan">
    <Loading />
  </Page>
);

export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: routes,
    context: { queries },
    defaultPreload: 'intent',
    defaultNotFoundComponent: NotFound,
    defaultErrorComponent: Failed,
    defaultPendingComponent: Pending,
    parseSearch,
    stringifySearch: writeSearch,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
