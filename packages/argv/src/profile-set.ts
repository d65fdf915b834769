import type { ArgumentShape, ExecOnce } from '@capstan/contracts';

export type Profile = {
  /** `required` if only the kernel can prevent these arguments from starting a program. */
  exec_once?: Exclude<ExecOnce, true>;
  /** Limits the profile to these executables. */
  only?: readonly string[];
  /** Options before the subcommand, allowed in every shape. */
  before?: readonly string[];
  shapes: readonly ArgumentShape[];
};

/** The built-in profiles of some programs. */
export type ProfileSet = {
  executables: readonly string[];
  /** True if the first argument is code, and the rest are arguments of that code. */
  interprets?: boolean;
  /** The profiles that apply if a policy allows the program without naming shapes. */
  default: readonly string[];
  profiles: Readonly<Record<string, Profile>>;
};
