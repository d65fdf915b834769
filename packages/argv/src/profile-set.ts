import type { ArgumentShape, ExecOnce } from '@capstan/contracts';

export type Profile = {
  /** `required` where nothing but the kernel keeps these arguments from starting a program. */
  exec_once?: Exclude<ExecOnce, true>;
  /** For these names alone. */
  only?: readonly string[];
  /** Options in front of the command, for every shape. */
  before?: readonly string[];
  shapes: readonly ArgumentShape[];
};

/** The ready-made shapes of some programs. */
export type ProfileSet = {
  executables: readonly string[];
  /** Their first argument is code, and what follows it arguments of that code. */
  interprets?: boolean;
  /** Those that count where a policy allows the program and names no shapes. */
  default: readonly string[];
  profiles: Readonly<Record<string, Profile>>;
};
