/* Takes its sections from a program, as some packers do. */
#include <elf.h>
#include <stdio.h>
int main(int words, char **word) {
    FILE *file = fopen(word[1], "r+");
    Elf64_Ehdr header;
    if (words < 2 || !file || fread(&header, sizeof header, 1, file) != 1)
        return 1;
    header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
    rewind(file);
    return fwrite(&header, sizeof header, 1, file) != 1 || fclose(file);
}
