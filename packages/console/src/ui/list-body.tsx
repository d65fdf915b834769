import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState, Loading } from './empty.js';

/** Shows fetched data or the error. Old data stays visible during a refresh. */
export function ListBody<Data>({ of, children }: { of: UseQueryResult<Data>; children(data: Data): ReactNode }) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <ErrorState error={of.error} retry={() => void of.refetch()} />;
  return (
    <div className="page-body">
      <Loading lines={8} />
    </div>
  );
}
