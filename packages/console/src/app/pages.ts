import {
  Activity,
  CalendarClock,
  FileText,
  Gauge,
  KeyRound,
  Layers,
  ListTree,
  Lock,
  type LucideIcon,
  ScrollText,
  ShieldCheck,
  Stamp,
  Webhook,
  Wrench,
} from 'lucide-react';

export type PageLink = {
  to:
    | '/approvals'
    | '/overview'
    | '/runs'
    | '/invocations'
    | '/queues'
    | '/tools'
    | '/policy'
    | '/schedules'
    | '/quotas'
    | '/audit'
    | '/webhooks'
    | '/keys'
    | '/secrets';
  label: string;
  icon: LucideIcon;
  /** Pressed after `g`. */
  key: string;
};

export const PAGE_GROUPS: readonly { title: string; pages: readonly PageLink[] }[] = [
  { title: '', pages: [{ to: '/approvals', label: 'Approvals', icon: Stamp, key: 'a' }] },
  {
    title: 'Watch',
    pages: [
      { to: '/overview', label: 'Overview', icon: Activity, key: 'o' },
      { to: '/runs', label: 'Runs', icon: ListTree, key: 'r' },
      { to: '/invocations', label: 'Invocations', icon: ScrollText, key: 'i' },
      { to: '/queues', label: 'Queues and workers', icon: Layers, key: 'q' },
    ],
  },
  {
    title: 'Define',
    pages: [
      { to: '/tools', label: 'Tools', icon: Wrench, key: 't' },
      { to: '/policy', label: 'Policy', icon: ShieldCheck, key: 'p' },
      { to: '/schedules', label: 'Schedules', icon: CalendarClock, key: 's' },
      { to: '/quotas', label: 'Quotas', icon: Gauge, key: 'u' },
    ],
  },
  {
    title: 'Administer',
    pages: [
      { to: '/audit', label: 'Audit', icon: FileText, key: 'd' },
      { to: '/webhooks', label: 'Webhooks', icon: Webhook, key: 'w' },
      { to: '/keys', label: 'Keys', icon: KeyRound, key: 'k' },
      { to: '/secrets', label: 'Secrets', icon: Lock, key: 'e' },
    ],
  },
];

export const PAGES: readonly PageLink[] = PAGE_GROUPS.flatMap(({ pages }) => pages);
