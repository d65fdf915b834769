/** The architectures that Capstan has a filter for. */
export type Architecture = 'x64' | 'arm64';

/** A system call's numbers; null where the architecture does not have it. From 424 on they are the same on all. */
type Numbers = readonly [x64: number | null, arm64: number | null];

const everywhere = (number: number): Numbers => [number, number];

/** Refused with EPERM: what reaches into other processes, into the kernel, or behind the walls. */
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
  // Namespaces; `clone` is looked at by its flags.
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

/** Answered with ENOSYS, on which programs fall back to something else. */
export const NOT_THERE: Readonly<Record<string, Numbers>> = {
  // Does what other system calls do, past any filter on those.
  io_uring_setup: everywhere(425),
  io_uring_enter: everywhere(426),
  io_uring_register: everywhere(427),
  // Its flags are in memory, where a filter cannot look; libc then uses clone.
  clone3: everywhere(435),
};

/** Parts of a browser's own sandbox: it makes namespaces for its pages, and leaves the file system behind. */
export const FOR_OWN_SANDBOX: readonly string[] = ['unshare', 'chroot'];

/** Those whose arguments decide. */
export const LOOKED_INTO = {
  clone: [56, 220],
  personality: [135, 92],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  execve: [59, 221],
  prlimit64: [302, 261],
} as const satisfies Record<string, Numbers>;

export const EXECVEAT: Numbers = [322, 281];

/** What the kernel got after this was written is not there until somebody has looked at it: mseal, of Linux 6.10. */
export const LAST_KNOWN = 462;

export const numberOf = (numbers: Numbers, architecture: Architecture): number | null =>
  numbers[architecture === 'x64' ? 0 : 1];
