-- No client can write statements in characters of two bytes and more.
SET character_set_client = ucs2;
SET character_set_client = UTF16;
SET character_set_client = utf32;
SET character_set_client = utf16le;
SET @@session.character_set_client = 'ucs2';
SET character_set_client = nope;
SET character_set_client = NULL;
SET NAMES ucs2;
SET NAMES 'utf16';
SET NAMES nope;
SET CHARACTER SET utf32;
SET CHARACTER SET nope;
SELECT @@character_set_client, @@character_set_results, @@character_set_connection;
