import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState, Loading } from './empty.js';

/** What was fetched, or why it was not. Old data stays while it is fetched again. */
export function ListBody<Data>({ of, children }: { of: UseQueryResult<Data>; children(data: Data): ReactNode }) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <ErrorState error={of.error} retry={() => void of.refetch()} />;
  return (
    <div className="page-body">
      <Loading lines={8} />
    </div>
  );
}
