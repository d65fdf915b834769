import { CapstanError } from '@capstan/client';

/** The error of a request that is refused. */
export const refusalOf = async (work: Promise<unknown>): Promise<CapstanError> => {
  const error: unknown = await work.then(
    () => null,
    (failed: unknown) => failed,
  );
  if (!(error instanceof CapstanError)) throw new Error(`no refusal: ${String(error)}`);
  return error;
};
