export type Ending =
  | { kind: 'exited'; exit_code: number }
  | { kind: 'killed'; signal: string }
  | { kind: 'not_started'; code: string; message: string };
