import type { Backbone } from '@capstan/backbone';

export type Parts = Pick<Backbone, 'catalog' | 'dispatcher' | 'relay' | 'rules' | 'store'>;
