-- The tables of schema.prisma, as Prisma's migrations write them.
CREATE TABLE `User` (
    `id` INTEGER NOT NULL AUTO_INCREMENT,
    `email` VARCHAR(191) NOT NULL,
    `name` VARCHAR(191) NULL,
    `role` ENUM('ADMIN', 'USER') NOT NULL DEFAULT 'USER',
    `bossId` INTEGER NULL,
    `updated` DATETIME(3) NOT NULL,

    UNIQUE INDEX `User_email_key`(`email`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Profile` (
    `userId` INTEGER NOT NULL,
    `bio` TEXT NOT NULL,

    PRIMARY KEY (`userId`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Post` (
    `id` BIGINT NOT NULL AUTO_INCREMENT,
    `title` VARCHAR(100) NOT NULL,
    `body` TEXT NULL,
    `price` DECIMAL(10, 2) NULL,
    `views` INTEGER NOT NULL DEFAULT 0,
    `meta` JSON NULL,
    `made` DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    `authorId` INTEGER NOT NULL,

    INDEX `Post_made_idx`(`made` DESC),
    FULLTEXT INDEX `Post_title_body_idx`(`title`, `body`),
    UNIQUE INDEX `Post_authorId_title_key`(`authorId`, `title`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Tag` (
    `id` VARCHAR(191) NOT NULL,
    `name` VARCHAR(191) NOT NULL,

    UNIQUE INDEX `Tag_name_key`(`name`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Seat` (
    `row` INTEGER NOT NULL,
    `number` INTEGER NOT NULL,
    `holder` VARCHAR(191) NULL,

    PRIMARY KEY (`row`, `number`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `_PostToTag` (
    `A` BIGINT NOT NULL,
    `B` VARCHAR(191) NOT NULL,

    UNIQUE INDEX `_PostToTag_AB_unique`(`A`, `B`),
    INDEX `_PostToTag_B_index`(`B`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Types` (
    `id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    `tiny` TINYINT NULL,
    `utiny` TINYINT UNSIGNED NULL,
    `small` SMALLINT NULL,
    `usmall` SMALLINT UNSIGNED NULL,
    `medium` MEDIUMINT NULL,
    `umedium` MEDIUMINT UNSIGNED NULL,
    `int` INTEGER NULL,
    `uint` INTEGER UNSIGNED NULL,
    `big` BIGINT NULL,
    `ubig` BIGINT UNSIGNED NULL,
    `flag` BOOLEAN NULL,
    `bit` BIT(1) NULL,
    `bits` BIT(40) NULL,
    `float` FLOAT NULL,
    `double` DOUBLE NULL,
    `decimal` DECIMAL(65, 30) NULL,
    `char` CHAR(4) NULL,
    `varchar` VARCHAR(20) NULL,
    `tinytext` TINYTEXT NULL,
    `text` TEXT NULL,
    `mediumtext` MEDIUMTEXT NULL,
    `longtext` LONGTEXT NULL,
    `binary` BINARY(4) NULL,
    `varbinary` VARBINARY(9) NULL,
    `tinyblob` TINYBLOB NULL,
    `blob` BLOB NULL,
    `mediumblob` MEDIUMBLOB NULL,
    `longblob` LONGBLOB NULL,
    `json` JSON NULL,
    `date` DATE NULL,
    `time` TIME(3) NULL,
    `datetime` DATETIME(3) NULL,
    `datetime6` DATETIME(6) NULL,
    `stamp` TIMESTAMP(3) NULL,
    `year` YEAR NULL,
    `role` ENUM('ADMIN', 'USER') NULL,

    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

ALTER TABLE `User` ADD CONSTRAINT `User_bossId_fkey` FOREIGN KEY (`bossId`) REFERENCES `User`(`id`) ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE `Profile` ADD CONSTRAINT `Profile_userId_fkey` FOREIGN KEY (`userId`) REFERENCES `User`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE `Post` ADD CONSTRAINT `Post_authorId_fkey` FOREIGN KEY (`authorId`) REFERENCES `User`(`id`) ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE `_PostToTag` ADD CONSTRAINT `_PostToTag_A_fkey` FOREIGN KEY (`A`) REFERENCES `Post`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE `_PostToTag` ADD CONSTRAINT `_PostToTag_B_fkey` FOREIGN KEY (`B`) REFERENCES `Tag`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;
