/** The suggestion for an error code. The contracts are loaded only here, after a failure. */
export const suggestionOf = async (code: number): Promise<string | null> => {
  const { listFailures } = await import('@capstan/contracts');
  return listFailures().find((failure) => failure.code === code)?.suggestion ?? null;
};
