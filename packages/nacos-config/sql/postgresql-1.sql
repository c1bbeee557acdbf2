-- The tables of Nacos up to 2.4, in PostgreSQL's types: names, columns and keys as Nacos and its PostgreSQL plugin publish
-- them. Unique keys belong to the tables, so that on an existing table nothing is added to its rules. It creates what is
-- absent; it holds no rows, users least of all.

create table if not exists config_info (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(255),
  content text not null,
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  app_name varchar(128),
  tenant_id varchar(128) default '',
  c_desc varchar(256),
  c_use varchar(64),
  effect varchar(64),
  type varchar(64),
  c_schema text,
  encrypted_data_key text not null default '',
  constraint uk_configinfo_datagrouptenant unique (data_id, group_id, tenant_id)
);

create table if not exists config_info_aggr (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(255) not null,
  datum_id varchar(255) not null,
  content text not null,
  gmt_modified timestamp(6) not null default current_timestamp,
  app_name varchar(128),
  tenant_id varchar(128) default '',
  constraint uk_configinfoaggr_datagrouptenantdatum unique (data_id, group_id, tenant_id, datum_id)
);

create table if not exists config_info_beta (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  app_name varchar(128),
  content text not null,
  beta_ips varchar(1024),
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  tenant_id varchar(128) default '',
  encrypted_data_key text not null default '',
  constraint uk_configinfobeta_datagrouptenant unique (data_id, group_id, tenant_id)
);

create table if not exists config_info_tag (
  id bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  tenant_id varchar(128) default '',
  tag_id varchar(128) not null,
  app_name varchar(128),
  content text not null,
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  constraint uk_configinfotag_datagrouptenanttag unique (data_id, group_id, tenant_id, tag_id)
);

create table if not exists config_tags_relation (
  id bigint not null,
  tag_name varchar(128) not null,
  tag_type varchar(64),
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  tenant_id varchar(128) default '',
  nid bigserial primary key,
  constraint uk_configtagrelation_configidtag unique (id, tag_name, tag_type)
);
create index if not exists idx_config_tags_relation_tenant_id on config_tags_relation (tenant_id);

create table if not exists group_capacity (
  id bigserial primary key,
  group_id varchar(128) not null default '',
  quota integer not null default 0,
  usage integer not null default 0,
  max_size integer not null default 0,
  max_aggr_count integer not null default 0,
  max_aggr_size integer not null default 0,
  max_history_count integer not null default 0,
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  constraint uk_group_id unique (group_id)
);

create table if not exists his_config_info (
  id bigint not null,
  nid bigserial primary key,
  data_id varchar(255) not null,
  group_id varchar(128) not null,
  app_name varchar(128),
  content text not null,
  md5 varchar(32),
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  src_user text,
  src_ip varchar(20),
  op_type char(10),
  tenant_id varchar(128) default '',
  encrypted_data_key text not null default ''
);
create index if not exists idx_his_config_info_gmt_create on his_config_info (gmt_create);
create index if not exists idx_his_config_info_gmt_modified on his_config_info (gmt_modified);
create index if not exists idx_his_config_info_data_id on his_config_info (data_id);

create table if not exists tenant_capacity (
  id bigserial primary key,
  tenant_id varchar(128) not null default '',
  quota integer not null default 0,
  usage integer not null default 0,
  max_size integer not null default 0,
  max_aggr_count integer not null default 0,
  max_aggr_size integer not null default 0,
  max_history_count integer not null default 0,
  gmt_create timestamp(6) not null default current_timestamp,
  gmt_modified timestamp(6) not null default current_timestamp,
  constraint uk_tenant_id unique (tenant_id)
);

create table if not exists tenant_info (
  id bigserial primary key,
  kp varchar(128) not null,
  tenant_id varchar(128) default '',
  tenant_name varchar(128) default '',
  tenant_desc varchar(256),
  create_source varchar(32),
  gmt_create bigint not null,
  gmt_modified bigint not null,
  constraint uk_tenant_info_kptenantid unique (kp, tenant_id)
);
create index if not exists idx_tenant_info_tenant_id on tenant_info (tenant_id);

create table if not exists users (
  username varchar(50) primary key,
  password varchar(500) not null,
  enabled boolean not null
);

create table if not exists roles (
  username varchar(50) not null,
  role varchar(50) not null,
  constraint uk_username_role unique (username, role)
);

create table if not exists permissions (
  role varchar(50) not null,
  resource varchar(512) not null,
  action varchar(8) not null,
  constraint uk_role_permission unique (role, resource, action)
);
