/** The architectures that Capstan has a filter for. */
export type Architecture = 'x64' | 'arm64';

/** The numbers of a system call; null if the architecture does not have it. From 424 on, all architectures share them. */
type Numbers = readonly [x64: number | null, arm64: number | null];

const everywhere = (number: number): Numbers => [number, number];

/** Refused with EPERM: calls that reach into other processes, into the kernel, or out of the sandbox. */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  // Other processes: their memory, registers, descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: everywhere(440),
  process_mrelease: everywhere(448),
  pidfd_getfd: everywhere(438),
  kcmp: [312, 272],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // Keys are shared by all processes of a user, whatever namespace they are in.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Large parts of the kernel that tools have no use for.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  lookup_dcookie: [212, 18],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: everywhere(450),
  remap_file_pages: [216, 234],
  modify_ldt: [154, null],
  uselib: [134, null],
  // Mounts.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: everywhere(428),
  move_mount: everywhere(429),
  fsopen: everywhere(430),
  fsconfig: everywhere(431),
  fsmount: everywhere(432),
  fspick: everywhere(433),
  mount_setattr: everywhere(442),
  statmount: everywhere(457),
  listmount: everywhere(458),
  // Namespaces. `clone` is checked by its flags.
  setns: [308, 268],
  unshare: [272, 97],
  // The machine as a whole.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, null],
  query_module: [178, null],
  get_kernel_syms: [177, null],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: everywhere(443),
  nfsservctl: [180, 42],
  syslog: [103, 116],
  sysfs: [139, null],
  _sysctl: [156, null],
  ustat: [136, null],
  vhangup: [153, 58],
  vserver: [236, null],
  iopl: [172, null],
  ioperm: [173, null],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
};

/** Refused with ENOSYS, so that programs fall back to something else. */
export const NOT_THERE: Readonly<Record<string, Numbers>> = {
  // Does the work of other system calls, and bypasses any filter on those.
  io_uring_setup: everywhere(425),
  io_uring_enter: everywhere(426),
  io_uring_register: everywhere(427),
  // Its flags are in memory, which a filter cannot read. libc falls back to clone.
  clone3: everywhere(435),
};

/**
 * Refused with EPERM where the process has no IPC namespace of its own. System V objects and message queues belong to the whole
 * machine: whoever knows or guesses the name reaches those of other tools and of services, and they outlive the run.
 */
export const OF_THE_MACHINE: Readonly<Record<string, Numbers>> = {
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmdt: [67, 197],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  mq_timedsend: [242, 182],
  mq_timedreceive: [243, 183],
  mq_notify: [244, 184],
  mq_getsetattr: [245, 185],
};

/** Refused with ENOSYS where a process has the user of `init`: which process it signals, only the descriptor says. */
export const BY_DESCRIPTOR: Readonly<Record<string, Numbers>> = { pidfd_send_signal: everywhere(424) };

/** Calls that send a signal to the process, or group of processes, in their first argument. */
export const SIGNALS = {
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
} as const satisfies Record<string, Numbers>;

/** Calls that change how the process in their first argument is scheduled; 0 is the caller itself. */
export const SCHEDULING = {
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
} as const satisfies Record<string, Numbers>;

/** What a browser's own sandbox needs: it creates namespaces for its pages and changes their root. */
export const FOR_OWN_SANDBOX: readonly string[] = ['unshare', 'chroot'];

/** Calls that are allowed or refused by their arguments. */
export const LOOKED_INTO = {
  clone: [56, 220],
  personality: [135, 92],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  execve: [59, 221],
  prlimit64: [302, 261],
  fcntl: [72, 25],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
} as const satisfies Record<string, Numbers>;

export const EXECVEAT: Numbers = [322, 281];

/** mseal, of Linux 6.10. Newer calls are refused until somebody has reviewed them. */
export const LAST_KNOWN = 462;

export const numberOf = (numbers: Numbers, architecture: Architecture): number | null =>
  numbers[architecture === 'x64' ? 0 : 1];
