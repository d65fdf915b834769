import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Link,
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

/** Opens the approvals if anything waits for a person, and the overview otherwise. */
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: async () => {
    const { items } = await get<{ items: unknown[] }>('/v1/holds', { status: 'pending', limit: 1 });
    throw redirect({ to: items.length > 0 ? '/approvals' : '/overview', replace: true });
  },
});

const NotFound = () => (
  <Page title="Not found">
    <EmptyState title="This page does not exist">
      <p>
        Use the search, or go to the <Link to="/overview">overview</Link>.
      </p>
    </EmptyState>
  </Page>
);

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
      // The path in links of older messages.
      ...under('/holds/$id'),
      beforeLoad: ({ params: { id } }) => {
        throw redirect({ to: '/approvals/$id', params: { id }, replace: true });
      },
    }),
    createRoute({
      ...under('/overview'),
      component: lazyRouteComponent(() => import('../pages/overview/overview.js'), 'Overview'),
    }),
    createRoute({
      ...under('/runs'),
      component: lazyRouteComponent(() => import('../pages/runs/runs.js'), 'Runs'),
    }),
    createRoute({
      ...under('/runs/$id'),
      component: lazyRouteComponent(() => import('../pages/run/run.js'), 'RunPage'),
    }),
    createRoute({
      ...under('/compare'),
      component: lazyRouteComponent(() => import('../pages/run/compare.js'), 'Compare'),
    }),
    createRoute({
      ...under('/invocations'),
      component: lazyRouteComponent(() => import('../pages/invocations/invocations.js'), 'Invocations'),
    }),
    createRoute({
      ...under('/invocations/$id'),
      component: lazyRouteComponent(() => import('../pages/invocation/invocation.js'), 'InvocationPage'),
    }),
    createRoute({
      ...under('/queues'),
      component: lazyRouteComponent(() => import('../pages/queues/queues.js'), 'Queues'),
    }),
    createRoute({
      ...under('/tools'),
      component: lazyRouteComponent(() => import('../pages/tools/tools.js'), 'Tools'),
    }),
    createRoute({
      ...under('/tools/$id'),
      component: lazyRouteComponent(() => import('../pages/tools/tool.js'), 'ToolPage'),
    }),
    createRoute({
      ...under('/policy'),
      component: lazyRouteComponent(() => import('../pages/policy/policy.js'), 'PolicyPage'),
    }),
    createRoute({
      ...under('/audit'),
      component: lazyRouteComponent(() => import('../pages/audit/audit.js'), 'Audit'),
    }),
    createRoute({
      ...under('/schedules'),
      component: lazyRouteComponent(() => import('../pages/schedules/schedules.js'), 'Schedules'),
    }),
    createRoute({
      ...under('/webhooks'),
      component: lazyRouteComponent(() => import('../pages/webhooks/webhooks.js'), 'Webhooks'),
    }),
    createRoute({
      ...under('/quotas'),
      component: lazyRouteComponent(() => import('../pages/quotas/quotas.js'), 'Quotas'),
    }),
    createRoute({
      ...under('/keys'),
      component: lazyRouteComponent(() => import('../pages/keys/keys.js'), 'Keys'),
    }),
    createRoute({
      ...under('/secrets'),
      component: lazyRouteComponent(() => import('../pages/secrets/secrets.js'), 'Secrets'),
    }),
    createRoute({ ...under('$'), component: NotFound }),
  ]),
]);

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
