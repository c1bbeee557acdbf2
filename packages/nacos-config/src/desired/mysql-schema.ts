/**
 * The tables of Nacos in a MySQL database (5.7 or newer), as one script that may run any number of times. Table,
 * column and key names and their types are those of Nacos's published schema; where versions differ, the widest column
 * counts, and tables of later versions are there as well, since earlier ones leave them alone. There are no rows in it:
 * users are nobody's to bring back but the user's own.
 */

/** Text is compared byte by byte, as in Nacos's own schema. */
const TABLE_OPTIONS = "ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin";

/** Columns that several tables share. */
const ID = "`id` bigint NOT NULL AUTO_INCREMENT";
const UNSIGNED_ID = "`id` bigint unsigned NOT NULL AUTO_INCREMENT";
const CREATED = "`gmt_create` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP";
const MODIFIED = "`gmt_modified` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP";
const DATA_AND_GROUP = ["`data_id` varchar(255) NOT NULL", "`group_id` varchar(128) NOT NULL"];
const TENANT = "`tenant_id` varchar(128) DEFAULT ''";
const APP = "`app_name` varchar(128) DEFAULT NULL";
const CONTENT = ["`content` longtext NOT NULL", "`md5` varchar(32) DEFAULT NULL"];
const SOURCE = ["`src_user` text", "`src_ip` varchar(100) DEFAULT NULL"];
const DATA_KEY = "`encrypted_data_key` varchar(1024) NOT NULL DEFAULT ''";
const LIMITS = ["quota", "usage", "max_size", "max_aggr_count", "max_aggr_size", "max_history_count"].map(
  (name) => `\`${name}\` int unsigned NOT NULL DEFAULT 0`,
);

/** Every table: its columns, then its keys. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  config_info: [
    ID,
    "`data_id` varchar(255) NOT NULL",
    "`group_id` varchar(128) DEFAULT NULL",
    ...CONTENT,
    CREATED,
    MODIFIED,
    ...SOURCE,
    APP,
    TENANT,
    "`c_desc` varchar(256) DEFAULT NULL",
    "`c_use` varchar(64) DEFAULT NULL",
    "`effect` varchar(64) DEFAULT NULL",
    "`type` varchar(64) DEFAULT NULL",
    "`c_schema` text",
    DATA_KEY,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_configinfo_datagrouptenant` (`data_id`, `group_id`, `tenant_id`)",
  ],
  config_info_gray: [
    UNSIGNED_ID,
    ...DATA_AND_GROUP,
    ...CONTENT,
    ...SOURCE,
    "`gmt_create` datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)",
    "`gmt_modified` datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)",
    APP,
    TENANT,
    "`gray_name` varchar(128) NOT NULL",
    "`gray_rule` text NOT NULL",
    DATA_KEY,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_configinfogray_datagrouptenantgray` (`data_id`, `group_id`, `tenant_id`, `gray_name`)",
    "KEY `idx_dataid_gmt_modified` (`data_id`, `gmt_modified`)",
    "KEY `idx_gmt_modified` (`gmt_modified`)",
  ],
  config_info_aggr: [
    ID,
    ...DATA_AND_GROUP,
    "`datum_id` varchar(255) NOT NULL",
    "`content` longtext NOT NULL",
    "`gmt_modified` datetime NOT NULL",
    APP,
    TENANT,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_configinfoaggr_datagrouptenantdatum` (`data_id`, `group_id`, `tenant_id`, `datum_id`)",
  ],
  config_info_beta: [
    ID,
    ...DATA_AND_GROUP,
    APP,
    ...CONTENT,
    "`beta_ips` varchar(1024) DEFAULT NULL",
    CREATED,
    MODIFIED,
    ...SOURCE,
    TENANT,
    DATA_KEY,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_configinfobeta_datagrouptenant` (`data_id`, `group_id`, `tenant_id`)",
  ],
  config_info_tag: [
    ID,
    ...DATA_AND_GROUP,
    TENANT,
    "`tag_id` varchar(128) NOT NULL",
    APP,
    ...CONTENT,
    CREATED,
    MODIFIED,
    ...SOURCE,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_configinfotag_datagrouptenanttag` (`data_id`, `group_id`, `tenant_id`, `tag_id`)",
  ],
  config_tags_relation: [
    "`id` bigint NOT NULL",
    "`tag_name` varchar(128) NOT NULL",
    "`tag_type` varchar(64) DEFAULT NULL",
    ...DATA_AND_GROUP,
    TENANT,
    "`nid` bigint NOT NULL AUTO_INCREMENT",
    "PRIMARY KEY (`nid`)",
    "UNIQUE KEY `uk_configtagrelation_configidtag` (`id`, `tag_name`, `tag_type`)",
    "KEY `idx_tenant_id` (`tenant_id`)",
  ],
  group_capacity: [
    UNSIGNED_ID,
    "`group_id` varchar(128) NOT NULL DEFAULT ''",
    ...LIMITS,
    CREATED,
    MODIFIED,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_group_id` (`group_id`)",
  ],
  his_config_info: [
    "`id` bigint unsigned NOT NULL",
    "`nid` bigint unsigned NOT NULL AUTO_INCREMENT",
    ...DATA_AND_GROUP,
    APP,
    ...CONTENT,
    CREATED,
    MODIFIED,
    ...SOURCE,
    "`op_type` char(10) DEFAULT NULL",
    TENANT,
    DATA_KEY,
    "`publish_type` varchar(50) DEFAULT 'formal'",
    "`gray_name` varchar(128) DEFAULT NULL",
    "`ext_info` longtext",
    "PRIMARY KEY (`nid`)",
    "KEY `idx_gmt_create` (`gmt_create`)",
    "KEY `idx_gmt_modified` (`gmt_modified`)",
    "KEY `idx_did` (`data_id`)",
  ],
  tenant_capacity: [
    UNSIGNED_ID,
    "`tenant_id` varchar(128) NOT NULL DEFAULT ''",
    ...LIMITS,
    CREATED,
    MODIFIED,
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_tenant_id` (`tenant_id`)",
  ],
  tenant_info: [
    ID,
    "`kp` varchar(128) NOT NULL",
    TENANT,
    "`tenant_name` varchar(128) DEFAULT ''",
    "`tenant_desc` varchar(256) DEFAULT NULL",
    "`create_source` varchar(32) DEFAULT NULL",
    "`gmt_create` bigint NOT NULL",
    "`gmt_modified` bigint NOT NULL",
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_tenant_info_kptenantid` (`kp`, `tenant_id`)",
    "KEY `idx_tenant_id` (`tenant_id`)",
  ],
  users: [
    "`username` varchar(50) NOT NULL",
    "`password` varchar(500) NOT NULL",
    "`enabled` boolean NOT NULL",
    "PRIMARY KEY (`username`)",
  ],
  roles: [
    "`username` varchar(50) NOT NULL",
    "`role` varchar(50) NOT NULL",
    "UNIQUE KEY `idx_user_role` (`username`, `role`)",
  ],
  permissions: [
    "`role` varchar(50) NOT NULL",
    "`resource` varchar(255) NOT NULL",
    "`action` varchar(8) NOT NULL",
    "UNIQUE KEY `uk_role_permission` (`role`, `resource`, `action`)",
  ],
  pipeline_execution: [
    "`execution_id` varchar(64) NOT NULL",
    "`resource_type` varchar(32) NOT NULL",
    "`resource_name` varchar(256) NOT NULL",
    "`namespace_id` varchar(128) DEFAULT NULL",
    "`version` varchar(64) DEFAULT NULL",
    "`status` varchar(32) NOT NULL",
    "`pipeline` longtext NOT NULL",
    "`create_time` bigint NOT NULL",
    "`update_time` bigint NOT NULL",
    "PRIMARY KEY (`execution_id`)",
  ],
  ai_resource: [
    ID,
    CREATED,
    MODIFIED,
    "`name` varchar(256) NOT NULL",
    "`type` varchar(32) NOT NULL",
    "`c_desc` varchar(2048) DEFAULT NULL",
    "`status` varchar(32) DEFAULT NULL",
    "`namespace_id` varchar(128) NOT NULL DEFAULT ''",
    "`biz_tags` varchar(1024) DEFAULT NULL",
    "`ext` longtext",
    "`c_from` varchar(256) NOT NULL DEFAULT 'local'",
    "`version_info` longtext",
    "`meta_version` bigint NOT NULL DEFAULT 1",
    "`scope` varchar(16) NOT NULL DEFAULT 'PRIVATE'",
    "`owner` varchar(128) NOT NULL DEFAULT ''",
    "`download_count` bigint NOT NULL DEFAULT 0",
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_ai_resource_ns_name_type` (`namespace_id`, `name`, `type`, `c_from`)",
    "KEY `idx_ai_resource_name` (`name`)",
    "KEY `idx_ai_resource_type` (`type`)",
    "KEY `idx_ai_resource_gmt_modified` (`gmt_modified`)",
  ],
  ai_resource_version: [
    ID,
    CREATED,
    MODIFIED,
    "`type` varchar(32) NOT NULL",
    "`author` varchar(128) DEFAULT NULL",
    "`name` varchar(256) NOT NULL",
    "`c_desc` varchar(2048) DEFAULT NULL",
    "`status` varchar(32) NOT NULL",
    "`version` varchar(64) NOT NULL",
    "`namespace_id` varchar(128) NOT NULL DEFAULT ''",
    "`storage` longtext",
    "`publish_pipeline_info` longtext",
    "`download_count` bigint NOT NULL DEFAULT 0",
    "PRIMARY KEY (`id`)",
    "UNIQUE KEY `uk_ai_resource_ver_ns_name_type_ver` (`namespace_id`, `name`, `type`, `version`)",
    "KEY `idx_ai_resource_ver_name` (`name`)",
    "KEY `idx_ai_resource_ver_status` (`status`)",
    "KEY `idx_ai_resource_ver_gmt_modified` (`gmt_modified`)",
  ],
};

/**
 * The script that creates the tables that are missing and changes nothing else.
 * @throws when there is no table: an operator without its schema must not start
 */
export function mysqlScript(tables: Readonly<Record<string, readonly string[]>> = TABLES): string {
  const statements = Object.entries(tables).map(
    ([name, lines]) =>
      `CREATE TABLE IF NOT EXISTS \`${name}\` (\n${lines.map((line) => `  ${line}`).join(",\n")}\n) ${TABLE_OPTIONS};\n`,
  );
  if (statements.length === 0) throw new Error("the MySQL schema of Nacos is missing: this build is broken");
  return statements.join("\n");
}

/** The statement that creates a database of any name unless it exists. */
export function createDatabaseStatement(name: string): string {
  return `CREATE DATABASE IF NOT EXISTS ${quoted(name)} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;\n`;
}

/** A name as MySQL takes it whatever is in it. */
function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
