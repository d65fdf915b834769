/** A SQL condition on two arrays: every plan run still has the `seq` with which it was read, so no other process has moved it on. */
export const turnStands = (run_ids: string, seqs: string): string => `(
  SELECT count(*) FROM unnest(${run_ids}::text[], ${seqs}::int[]) AS turn (run_id, seq) JOIN plan_runs p USING (run_id, seq)
) = cardinality(${run_ids}::text[])`;
