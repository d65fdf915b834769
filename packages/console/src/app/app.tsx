import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Tooltip } from 'radix-ui';
import { useEffect, useState } from 'react';
import { meQuery } from '../api/me.js';
import { createQueryClient } from '../api/query-client.js';
import { signedOut } from '../api/request.js';
import { ToastProvider } from '../ui/toast.js';
import { createAppRouter } from './router.js';

export function App() {
  const [queries] = useState(createQueryClient);
  const [router] = useState(() => createAppRouter(queries));

  useEffect(() => {
    const leave = () => {
      const { pathname, href } = router.state.location;
      if (pathname === '/login') return;
      queries.removeQueries({ queryKey: meQuery.queryKey });
      void router.navigate({ to: '/login', search: { next: href } });
    };
    signedOut.addEventListener('signed-out', leave);
    return () => signedOut.removeEventListener('signed-out', leave);
  }, [queries, router]);

  return (
    <QueryClientProvider client={queries}>
      <Tooltip.Provider skipDelayDuration={200}>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </Tooltip.Provider>
    </QueryClientProvider>
  );
}
