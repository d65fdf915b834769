import type { Backbone } from '@capstan/backbone';

export type Parts = Pick<Backbone, 'catalog' | 'queue' | 'relay' | 'rules' | 'store'>;
