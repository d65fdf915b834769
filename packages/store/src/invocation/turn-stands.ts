/** Whether the runs of a turn still stand as they did at its beginning; the SQL of a condition on two arrays. */
export const turnStands = (run_ids: string, seqs: string): string => `(
  SELECT count(*) FROM unnest(${run_ids}::text[], ${seqs}::int[]) AS turn (run_id, seq) JOIN plan_runs p USING (run_id, seq)
) = cardinality(${run_ids}::text[])`;
